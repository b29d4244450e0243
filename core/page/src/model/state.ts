/** What is shown, as the address says it: a view and its parameters. */
import { parseQuery, withoutMatcher } from "../query/parse.ts";

export const VIEWS = [
  "explore", "labels", "spans", "span", "traces", "trace", "comparison", "comparison-diff", "adhoc",
] as const;
export type ViewName = (typeof VIEWS)[number];

/** `parameters` are the address's, by their names there; an empty value is a
 * missing one. The names that several views share:
 *
 * query, type, from, until            what is selected, and of when
 * leftQuery, leftFrom, leftUntil, …   both sides of a comparison (right…)
 * live                                "1": looks again every few seconds
 * view                                "explore": a query for one span is explored
 * span, trace                         ids
 * zoom, search, focus, hide, sandwich, layout, colour, sort
 *                                     how a flame graph is looked at */
export interface State {
  view: ViewName;
  parameters: Readonly<Record<string, string>>;
}

/** Views of one range of time: they can be live. */
export const WITH_RANGE: readonly ViewName[] = ["explore", "labels", "spans", "traces", "span"];

/** Of parameters: undefined or "" takes one away. */
export type Change = Readonly<Record<string, string | undefined>>;

export function changed(state: State, change: Change, view: ViewName = state.view): State {
  const parameters: Record<string, string> = {};

  for (const [name, value] of Object.entries({ ...state.parameters, ...change }))
    if (value !== undefined && value !== "" && (name !== "live" || WITH_RANGE.includes(view)))
      parameters[name] = value;
  return { view, parameters };
}

/** The part of a path behind the server's own prefix. */
function viewOf(path: string): ViewName {
  const last = path.slice(path.lastIndexOf("/") + 1);

  return VIEWS.find((name) => name === last) ?? "explore";
}

/** Reads an address. */
export function readAddress(address: URL): State {
  const parameters: Record<string, string> = {};

  for (const [name, value] of address.searchParams)
    if (value !== "" && !Object.hasOwn(parameters, name))
      parameters[name] = value;
  return { view: viewOf(address.pathname), parameters };
}

/** What a page that is opened shows. The link that a tracer's span has is a query
 * with the span's id in it: it opens the span's view. What the page itself writes
 * of such a query says that it is explored. */
export function entered(state: State): State {
  const { query = "", view } = state.parameters;

  if (state.view !== "explore" || view === "explore")
    return state;
  const { matchers } = parseQuery(query);
  const index = matchers.findIndex(({ name, operator, value }) =>
    (name === "profile_id" || name === "span_id") && operator === "=" && value !== "");

  return index < 0 ? state : changed(state, { query: withoutMatcher(query, index), span: matchers[index]!.value }, "span");
}

/** The address of a state, relative to the one of the page. */
export function writeAddress(state: State): string {
  const { view } = state;
  const said = changed(state, { view: undefined });
  const { parameters } = entered(said).view === view ? said : changed(said, { view: "explore" });
  const query = new URLSearchParams(parameters).toString();
  const path = view === "explore" ? "./" : view;

  return query ? `${path}?${query}` : path;
}
