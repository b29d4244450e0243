/** Two selections as one flame graph of what changed, and as a table of what
 * changed most. */
import { treeOfDiff, type Tree } from "../model/tree.ts";
import type { WireDiff } from "../model/wire.ts";
import { h } from "../parts/dom.ts";
import { amount, count, percent } from "../parts/format.ts";
import { changesTable } from "../spans/changes-table.ts";
import { relativeTo, sumsOf, type Sums } from "../spans/change.ts";
import { whyEmpty } from "../spans/empty.ts";
import { measureOf, type Measure } from "../spans/links.ts";
import { diffParameters, sideFields, sideOf, swapped, viewOfSide, type SideName } from "../spans/side.ts";
import { StacksPlace } from "../spans/stacks.ts";
import type { View } from "./view.ts";

export async function comparisonDiff(view: View): Promise<void> {
  const left = sideFields(view, "left", "Base"), right = sideFields(view, "right", "Compared with it");
  const measure = measureOf({ ...view.state, parameters: { ...view.state.parameters, query: sideOf(view.state, "left").query ?? "" } });
  const result = h("div", {});

  view.title("");
  view.element.append(h("div", { class: "tools-row" }, h("h1", {}, "Diff"),
    h("button", { type: "button", onclick: () => { view.go(swapped(view.state)); } }, "Swap sides"),
    h("a", { href: view.address({}, "comparison") }, "Side by side")),
  h("div", { class: "side-by-side" }, left.element, right.element), result);
  const wire = await view.api.get<WireDiff>("diff", { format: "tree", ...diffParameters(view.state) }, view.signal);
  const tree = treeOfDiff(wire);
  const sums = sumsOf(tree);
  if (sums.base === 0 || sums.now === 0)
    result.append(...await reasons(view, sums));
  if (sums.base !== 0 || sums.now !== 0)
    result.append(shownDifference(view, tree, sums, wire.profiles, measure));
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

function shownDifference(view: View, tree: Tree, sums: Sums, profiles: readonly [number, number], measure: Measure): HTMLElement {
  const relative = relativeTo(tree);
  // Its own table is beneath; the panel's shows when it is asked for.
  const place = new StacksPlace(view, undefined, { shown: "graph" });
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
