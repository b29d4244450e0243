/** Explains empty results of the views about spans, and suggests others. */
import { emptyReason } from "../explore/empty.ts";
import { changed, type Change } from "../model/state.ts";
import type { WireGaps } from "../model/wire.ts";
import { h, shown } from "../parts/dom.ts";
import type { View } from "../views/view.ts";

/** Parameters of an API request for profiles. */
export interface Asked {
  query?: string | undefined;
  type?: string | undefined;
  from?: string | undefined;
  until?: string | undefined;
  span?: string | undefined;
  trace?: string | undefined;
}

/** A view with another selection. `rename` converts its changes to changes of the real
 * view's address. */
export function viewAsking(view: View, asked: Asked, rename: (change: Change) => Change = (change) => change): View {
  const { query, type, from, until } = asked;

  return {
    ...view, state: changed(view.state, { query, type, from, until }),
    go: (change, to) => { view.go(rename(change), to); },
    address: (change, to) => view.address(rename(change), to),
  };
}

async function ofIds(view: View, asked: Asked): Promise<HTMLElement> {
  const { before, after, ranges } = await view.api.get<WireGaps>("gaps", { ...asked }, view.signal);
  const what = asked.span ? `the span ${shown(asked.span, 32)}` : `the trace ${shown(asked.trace ?? "", 40)}`;
  const where = before ?? after;
  const text = ranges.length > 0 ? `The profiles of ${what} have only zero values.`
    : where === null ? `No samples of ${what} with this profile type. It used too little CPU time, or its profiles have been deleted.`
      : `No samples of ${what} in this time range, but there are some at another time.`;

  return h("div", { class: "notice empty", role: "status" }, h("p", {}, text), where !== null && ranges.length === 0
    && h("p", {}, h("a", { href: view.address({ from: String(where - 60_000), until: String(where + 60_000) }) }, "Show these samples")));
}

/** Explains why `asked` has no data. `view` must have the same selection; see viewAsking(). */
export async function whyEmpty(view: View, asked: Asked): Promise<HTMLElement> {
  return asked.span ?? asked.trace ? await ofIds(view, asked) : await emptyReason(view);
}
