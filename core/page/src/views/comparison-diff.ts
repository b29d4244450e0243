/** The Diff view: one flame graph of the differences between two selections, and a
 * table of the largest ones. */
import { originOfPair } from "../export/origin.ts";
import { scaled } from "../flame/stacks/derive.ts";
import type { DisplayOptions } from "../flame/panel.ts";
import type { Comparison } from "../model/comparison.ts";
import { treeOfDiff, type Tree } from "../model/tree.ts";
import type { WireDiff } from "../model/wire.ts";
import { Problem } from "../parts/api.ts";
import { h, safeText } from "../parts/dom.ts";
import { growthText, noiseText } from "../parts/change.ts";
import { amount, count } from "../parts/format.ts";
import { LatestRequest } from "../parts/latest.ts";
import { loadPart } from "../shell/errors.ts";
import { changesTable } from "../spans/changes-table.ts";
import { whyEmpty } from "../spans/empty.ts";
import { measureOf, type Measure } from "../spans/links.ts";
import { comparisonRanges } from "../spans/ranges.ts";
import { TITLES, defaultRanges, diffParameters, sideFields, sideOf, swapped, viewOfSide, type SideFields, type SideName } from "../spans/side.ts";
import { StacksPlace } from "../spans/stacks.ts";
import type { View } from "./view.ts";

type Fields = Readonly<Record<SideName, SideFields>>;

export async function comparisonDiff(view: View): Promise<void> {
  const change = defaultRanges(view.state);

  if (change) {
    view.replace(change);
    return;
  }
  const reload = (): void => { void load(); };
  const fields = { left: sideFields(view, "left", TITLES.left, reload), right: sideFields(view, "right", TITLES.right, reload) };
  const measure = measureOf({ ...view.state, parameters: { ...view.state.parameters, query: sideOf(view.state, "left").query ?? "" } });
  const latest = new LatestRequest(view.signal);
  const result = h("div", {});
  // The view has a table of its own, so the panel shows only the graph by default.
  let onScale: () => void = () => undefined;
  const place = new StacksPlace(view, (change: DisplayOptions) => {
    view.updateAddress(change);
    if ("scale" in change)
      onScale();
  }, { shown: "graph" });
  const load = async (): Promise<void> => {
    const signal = latest.next();

    await loadPart(view, signal, async () => {
      const found = await resultOf(view, fields, place, measure, signal);
      onScale = found.onScale;
      result.replaceChildren(...found.elements);
    }, (fault) => { result.replaceChildren(fault); });
  };

  const ranges = comparisonRanges(view);

  view.title("");
  view.element.append(h("div", { class: "tools-row" }, h("h1", {}, "Diff"),
    h("button", { type: "button", onclick: () => { view.go(swapped(view.state)); } }, "Swap sides"),
    h("a", { href: view.address({}, "comparison") }, "Side by side"), ranges?.baselines),
  ranges?.timelines ?? "",
  h("div", { class: "side-by-side" }, fields.left.element, fields.right.element), result);
  await load();
}

interface Result {
  readonly elements: HTMLElement[];
  readonly onScale: () => void;
}

async function resultOf(view: View, fields: Fields, place: StacksPlace, measure: Measure, signal: AbortSignal): Promise<Result> {
  const plain = (...elements: HTMLElement[]): Result => ({ elements, onScale: () => undefined });

  try {
    const wire = await view.api.get<WireDiff>("diff", { format: "tree", ...diffParameters(view.state) }, signal);
    const tree = treeOfDiff(wire);
    const { base, now } = tree.comparison!;
    const empty = base.total === 0 || now.total === 0 ? await emptySides(view, tree.comparison!) : [];

    signal.throwIfAborted();
    if (base.total === 0 && now.total === 0)
      return plain(...empty);
    const shownOf = differenceResult(view, place, tree, wire.profiles, measure);
    return { ...shownOf, elements: [...empty, ...shownOf.elements] };
  } catch (error) {
    if (!(error instanceof Problem) || error.side === null)
      throw error;
    fields[error.side].setErrorColumn(error.column);
    return plain(h("p", { class: "fault notice", role: "alert" }, `${TITLES[error.side]}: ${safeText(error.message)}`));
  }
}

/** Explains each empty side. */
async function emptySides(view: View, { base, now }: Comparison): Promise<HTMLElement[]> {
  const empty: SideName[] = [];

  if (base.total === 0)
    empty.push("left");
  if (now.total === 0)
    empty.push("right");
  return await Promise.all(empty.map(async (side) => h("section", { "aria-label": `${TITLES[side]} without data` },
    h("h2", {}, `No data on the ${TITLES[side].toLowerCase()} side`),
    await whyEmpty(viewOfSide(view, side), sideOf(view.state, side)))));
}

function profilesText(profiles: number): string {
  return `${count(profiles)} ${profiles === 1 ? "profile" : "profiles"}`;
}

function summary(comparison: Comparison, profiles: readonly [number, number], { unit, name }: Measure): HTMLElement {
  const { base, now } = comparison;
  const values = comparison.by("values");
  const change = values.isNoise(now.total, base.total, now.samples, base.samples) ? noiseText(values, now.total, base.total) : growthText(values, now.total, base.total);

  return h("p", { class: "summary" }, `${name}: ${amount(base.total, unit)} in ${profilesText(profiles[0])} \u2192 ${amount(now.total, unit)} in ${profilesText(profiles[1])}`
    + `, ${change === "noise" ? "within sampling noise" : change}.`);
}

function differenceResult(view: View, place: StacksPlace, tree: Tree, profiles: readonly [number, number], measure: Measure): Result {
  const table = h("div", {});
  const onScale = (): void => {
    table.replaceChildren(changesTable(scaled(tree, place.currentDisplay().scale), measure, (name) => {
      view.updateAddress({ search: name });
      place.setDisplay({ search: name });
    }));
  };

  place.show(tree, "difference", originOfPair(sideOf(view.state, "left"), sideOf(view.state, "right")));
  onScale();
  return { elements: [summary(tree.comparison!, profiles, measure), place.element, h("h2", {}, "Largest changes"), table], onScale };
}
