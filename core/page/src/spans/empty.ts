/** Explains empty results of the views about spans, and suggests others. */
import { emptyReason } from "../explore/empty.ts";
import type { ProfileSelection } from "../model/choice.ts";
import { withChange, type Change } from "../model/state.ts";
import type { WireGaps } from "../model/wire.ts";
import { h, safeText } from "../parts/dom.ts";
import type { View } from "../views/view.ts";

/** Returns `view` with another selection. `rename` converts changes of this selection
 * to changes of the address of `view`. */
export function viewFor(view: View, selection: ProfileSelection, rename: (change: Change) => Change = (change) => change): View {
  const { query, type, from, until } = selection;

  return {
    ...view, state: withChange(view.state, { query, type, from, until }),
    go: (change, to) => { view.go(rename(change), to); },
    address: (change, to) => view.address(rename(change), to),
  };
}

async function emptyIdReason(view: View, selection: ProfileSelection): Promise<HTMLElement> {
  const { before, after, ranges } = await view.api.get<WireGaps>("gaps", { ...selection }, view.signal);
  const what = selection.span ? `the span ${safeText(selection.span, 32)}` : `the trace ${safeText(selection.trace ?? "", 40)}`;
  const nearest = before ?? after;
  const text = ranges.length > 0 ? `The profiles of ${what} have only zero values.`
    : nearest === null ? `No samples of ${what} with this profile type. It used too little CPU time, or its profiles have been deleted.`
      : `No samples of ${what} in this time range, but there are some at another time.`;

  return h("div", { class: "notice empty", role: "status" }, h("p", {}, text), nearest !== null && ranges.length === 0
    && h("p", {}, h("a", { href: view.address({ from: String(nearest - 60_000), until: String(nearest + 60_000) }) }, "Show these samples")));
}

/** Explains why `selection` has no data. `view` must have the same selection; see viewFor(). */
export async function whyEmpty(view: View, selection: ProfileSelection): Promise<HTMLElement> {
  return selection.span ?? selection.trace ? await emptyIdReason(view, selection) : await emptyReason(view);
}
