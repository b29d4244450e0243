/** Links next to a value that add it to the query: "=" selects only this value, "!="
 * excludes it. "Diff" compares it with another value. */
import type { Change, ViewName } from "../model/state.ts";
import { h, safeText } from "../parts/dom.ts";
import type { View } from "../views/view.ts";

const TEXT_MAX = 200;

export interface Included {
  label: string;
  /** The displayed value. */
  text: string;
  /** The query with only this value. */
  only: string;
  /** The query without this value; null if the query cannot exclude it. */
  without: string | null;
  /** A link that compares the value with the baseline. */
  diff?: HTMLElement | null;
  /** The view that the links open; by default the current view. */
  to?: { view: ViewName; change: Change };
}

/** The style sheet adds the signs, so that copied text does not contain them. */
export function includeLinks(view: View, { label, text, only, without, diff, to }: Included): HTMLElement {
  const name = `${safeText(label, TEXT_MAX)} ${safeText(text, TEXT_MAX)}`;
  const link = (kind: string, query: string, verb: string): HTMLElement => h("a", {
    class: kind, href: view.address({ ticked: undefined, filter: undefined, zoom: undefined, ...to?.change, query }, to?.view), title: `${verb} ${name}`, "aria-label": `${verb} ${name}`,
  });

  return h("span", { class: "include" }, link("only", only, "Show only"), without !== null && link("without", without, "Exclude"), diff);
}
