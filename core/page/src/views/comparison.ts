/** The Compare view: two selections side by side, with linked zoom and search. */
import type { DisplayOptions } from "../flame/panel.ts";
import { Problem } from "../parts/api.ts";
import { h } from "../parts/dom.ts";
import { amount } from "../parts/format.ts";
import { measureOf } from "../spans/links.ts";
import { comparisonRanges } from "../spans/ranges.ts";
import { TITLES, defaultRanges, requestOf, sideFields, swapped, viewOfSide, type SideFields, type SideName } from "../spans/side.ts";
import { StacksPlace, treeTotal } from "../spans/stacks.ts";
import type { View } from "./view.ts";

interface Side {
  readonly element: HTMLElement;
  readonly place: StacksPlace;
  readonly ready: Promise<void>;
}

async function loadSide(view: View, side: SideName, place: StacksPlace, fields: SideFields, sum: HTMLElement): Promise<void> {
  const selection = requestOf(view.state, side);
  const unit = measureOf({ ...view.state, parameters: { ...view.state.parameters, query: selection.query ?? "" } });
  const tree = await place.load(selection, side, viewOfSide(view, side), (error) => {
    if (error instanceof Problem && error.column !== null)
      fields.setErrorColumn(error.column);
  });

  if (tree !== undefined)
    sum.textContent = tree ? `${amount(treeTotal(tree), unit.unit)} ${unit.name}` : "No data";
}

function sideIn(view: View, side: SideName, onDisplayChange: (change: DisplayOptions) => void): Side {
  const place = new StacksPlace(view, onDisplayChange);
  const sum = h("p", { class: "side-sum", role: "status" });
  const load = async (): Promise<void> => { await loadSide(view, side, place, fields, sum); };
  const fields = sideFields(view, side, TITLES[side], () => { void load(); });

  return {
    place, ready: load(),
    element: h("section", { "aria-label": TITLES[side], class: `comparison-side ${side}` }, fields.element, sum, place.element),
  };
}

export async function comparison(view: View): Promise<void> {
  const change = defaultRanges(view.state);

  if (change) {
    view.replace(change);
    return;
  }
  const linked = (other: () => StacksPlace) => (change: DisplayOptions): void => {
    view.updateAddress(change);
    other().setDisplay(change);
  };
  const left: Side = sideIn(view, "left", linked(() => right.place));
  const right: Side = sideIn(view, "right", linked(() => left.place));

  const ranges = comparisonRanges(view);

  view.title("");
  view.element.append(h("div", { class: "tools-row" }, h("h1", {}, "Compare"),
    h("button", { type: "button", onclick: () => { view.go(swapped(view.state)); } }, "Swap sides"),
    h("a", { href: view.address({}, "comparison-diff") }, "Diff"), ranges?.baselines),
  ranges?.timelines ?? "",
  h("div", { class: "side-by-side comparison" }, left.element, right.element));
  await Promise.all([left.ready, right.ready]);
}
