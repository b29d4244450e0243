/** Two selections as one flame graph of what changed, and as a table of what
 * changed most. */
import { treeOfDiff, type Tree } from "../model/tree.ts";
import type { WireDiff } from "../model/wire.ts";
import { Problem } from "../parts/api.ts";
import { h, shown } from "../parts/dom.ts";
import { amount, count, percent } from "../parts/format.ts";
import { Latest } from "../parts/latest.ts";
import { inPlace } from "../shell/faults.ts";
import { changesTable } from "../spans/changes-table.ts";
import { relativeTo, sumsOf, type Sums } from "../spans/change.ts";
import { whyEmpty } from "../spans/empty.ts";
import { measureOf, type Measure } from "../spans/links.ts";
import { diffParameters, sideFields, sideOf, swapped, viewOfSide, type SideFields, type SideName } from "../spans/side.ts";
import { StacksPlace } from "../spans/stacks.ts";
import type { View } from "./view.ts";

type Fields = Readonly<Record<SideName, SideFields>>;

const TITLES: Readonly<Record<SideName, string>> = { left: "Base", right: "Compared with it" };

export async function comparisonDiff(view: View): Promise<void> {
  const again = (): void => { void load(); };
  const fields = { left: sideFields(view, "left", TITLES.left, again), right: sideFields(view, "right", TITLES.right, again) };
  const measure = measureOf({ ...view.state, parameters: { ...view.state.parameters, query: sideOf(view.state, "left").query ?? "" } });
  const asking = new Latest(view.signal);
  const result = h("div", {});
  // Its own table is beneath; the panel's shows when it is asked for.
  const place = new StacksPlace(view, undefined, { shown: "graph" });
  const load = async (): Promise<void> => {
    const signal = asking.next();

    await inPlace(view, signal, async () => {
      result.replaceChildren(...await resultOf(view, fields, place, measure, signal));
    }, (fault) => { result.replaceChildren(fault); });
  };

  view.title("");
  view.element.append(h("div", { class: "tools-row" }, h("h1", {}, "Diff"),
    h("button", { type: "button", onclick: () => { view.go(swapped(view.state)); } }, "Swap sides"),
    h("a", { href: view.address({}, "comparison") }, "Side by side")),
  h("div", { class: "side-by-side" }, fields.left.element, fields.right.element), result);
  await load();
}

async function resultOf(view: View, fields: Fields, place: StacksPlace, measure: Measure, signal: AbortSignal): Promise<HTMLElement[]> {
  try {
    const wire = await view.api.get<WireDiff>("diff", { format: "tree", ...diffParameters(view.state) }, signal);
    const tree = treeOfDiff(wire);
    const sums = sumsOf(tree);
    const empty = sums.base === 0 || sums.now === 0 ? await reasons(view, sums) : [];

    signal.throwIfAborted();
    return sums.base === 0 && sums.now === 0 ? empty : [...empty, shownDifference(view, place, tree, sums, wire.profiles, measure)];
  } catch (error) {
    if (!(error instanceof Problem) || error.side === null)
      throw error;
    fields[error.side].setFault(error.column);
    return [h("p", { class: "fault notice", role: "alert" }, `${TITLES[error.side]}: ${shown(error.message)}`)];
  }
}

/** Why a side has nothing; the other may still be looked at. */
async function reasons(view: View, sums: Sums): Promise<HTMLElement[]> {
  const empty: SideName[] = [];

  if (sums.base === 0)
    empty.push("left");
  if (sums.now === 0)
    empty.push("right");
  return await Promise.all(empty.map(async (side) => h("section", { "aria-label": side === "left" ? "The base is empty" : "What is compared is empty" },
    h("h2", {}, side === "left" ? "The base has nothing" : "What is compared with it has nothing"),
    await whyEmpty(viewOfSide(view, side), sideOf(view.state, side)))));
}

function profilesText(profiles: number): string {
  return `${count(profiles)} ${profiles === 1 ? "profile" : "profiles"}`;
}

function summary(sums: Sums, profiles: readonly [number, number], { unit, name }: Measure): HTMLElement {
  const change = sums.base > 0 ? `, ${sums.now >= sums.base ? "+" : "\u2212"}${percent(Math.abs(sums.now - sums.base) / sums.base)}` : "";

  return h("p", { class: "summary" }, `${name}: ${amount(sums.base, unit)} in ${profilesText(profiles[0])}, then ${amount(sums.now, unit)} in ${profilesText(profiles[1])}${change}.`);
}

function shownDifference(view: View, place: StacksPlace, tree: Tree, sums: Sums, profiles: readonly [number, number], measure: Measure): HTMLElement {
  const relative = relativeTo(tree);
  const table = h("div", {});
  const scales = [["shares", "Shares of each side"], ["values", "Values"]] as const;
  const buttons = scales.map(([id, title]) => h("button", {
    type: "button", onclick: () => {
      view.note({ scale: id === "shares" ? undefined : id });
      show(id);
    },
  }, title));
  const says = h("span", { class: "faint", role: "status" });

  function show(scale: string): void {
    const seen = scale === "shares" && relative ? relative : tree;

    buttons.forEach((button, at) => { button.setAttribute("aria-pressed", String(scales[at]![0] === scale)); });
    says.textContent = seen === tree ? "Differences are of values." : "The base is scaled to the sum of the other side: differences are of shares.";
    place.show(seen, "difference");
    table.replaceChildren(changesTable(seen, measure, (name) => {
      view.note({ search: name });
      place.setLook({ search: name });
    }));
  }

  buttons[0]!.disabled = !relative;
  show(relative && view.state.parameters["scale"] !== "values" ? "shares" : "values");
  return h("div", {}, summary(sums, profiles, measure),
    h("div", { class: "tools-row" }, h("span", { class: "joined", role: "group", "aria-label": "What is compared" }, ...buttons), says),
    place.element, h("h2", {}, "What changed most"), table);
}
