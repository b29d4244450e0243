/** The state of the page, which is in its address: a view and its parameters. */
import { parseQuery, withoutMatcher } from "../query/parse.ts";

interface ViewProperties {
  readonly title: string;
  /** The view whose link in the navigation is marked while this view is shown. Views
   * without this member have a link of their own. */
  readonly under?: string;
  /** Whether the header shows the query. Other views have fields of their own, or no
   * query. */
  readonly hasQuery?: boolean;
  /** Whether the view has one time range and can refresh automatically. */
  readonly hasRange?: boolean;
}

/** All views, by the last part of their path, in the order of the navigation. */
const PROPERTIES = {
  services: { title: "Services", hasRange: true },
  explore: { title: "Explore", hasQuery: true, hasRange: true },
  labels: { title: "Labels", hasQuery: true, hasRange: true },
  spans: { title: "Spans", hasQuery: true, hasRange: true },
  span: { title: "Span", under: "spans", hasRange: true },
  traces: { title: "Traces", hasRange: true },
  trace: { title: "Trace", under: "traces" },
  comparison: { title: "Compare" },
  "comparison-diff": { title: "Diff" },
  adhoc: { title: "Open file" },
  missing: { title: "Page not found", under: "missing" },
} satisfies Record<string, ViewProperties>;
export type ViewName = keyof typeof PROPERTIES;
export const VIEWS: Readonly<Record<ViewName, ViewProperties>> = PROPERTIES;
export const VIEW_NAMES = Object.keys(VIEWS) as ViewName[];

/** `parameters` has the parameters of the address. Empty ones are omitted. The
 * names that several views share:
 *
 * query, type, from, until            the selected profiles and the time range
 * leftQuery, leftFrom, leftUntil, …   the baseline side of a comparison (right…: the other)
 * live                                "1": refresh every few seconds
 * view                                "explore": stay in Explore though the query selects one span
 * against                             Spans: the baseline range, a name of model/baseline.ts
 * filter, ticked                      the filter of a list, and its two ticked values
 * tz                                  "utc": show and read times in UTC
 * span, trace                         ids
 * path                                Page not found: the unknown path
 * zoom, search, focus, hide, mine, sandwich, layout, colour, sort, lines
 *                                     display options of a flame graph */
export interface State {
  view: ViewName;
  parameters: Readonly<Record<string, string>>;
}

/** New values of parameters. undefined or "" removes a parameter. */
export type Change = Readonly<Record<string, string | undefined>>;

export function withChange(state: State, change: Change, view: ViewName = state.view): State {
  const parameters: Record<string, string> = {};

  for (const [name, value] of Object.entries({ ...state.parameters, ...change }))
    if (value !== undefined && value !== "" && (name !== "live" || VIEWS[view].hasRange))
      parameters[name] = value;
  return { view, parameters };
}

/** The view that the last part of a path names. */
function viewOf(path: string): ViewName {
  const last = path.slice(path.lastIndexOf("/") + 1);

  return last === "" ? "explore" : VIEW_NAMES.find((name) => name === last) ?? "missing";
}

export function readAddress(address: URL): State {
  const parameters: Record<string, string> = {};

  for (const [name, value] of address.searchParams)
    if (value !== "" && !Object.hasOwn(parameters, name))
      parameters[name] = value;
  const view = viewOf(address.pathname);

  return { view, parameters: view === "missing" ? { path: address.pathname, ...parameters } : parameters };
}

/** The state that an opened address leads to. A query for one span id, as in the
 * links of spans, opens the span's view, unless `view` is "explore". */
export function openedState(state: State): State {
  const { query = "", view } = state.parameters;

  if (state.view !== "explore" || view === "explore")
    return state;
  const { matchers } = parseQuery(query);
  const index = matchers.findIndex(({ name, operator, value }) =>
    (name === "profile_id" || name === "span_id") && operator === "=" && value !== "");

  return index < 0 ? state : withChange(state, { query: withoutMatcher(query, index), span: matchers[index]!.value }, "span");
}

/** Returns the address of a state, relative to the address of the page. */
export function writeAddress(state: State): string {
  const { view } = state;
  const explored = withChange(state, { view: undefined });
  const { parameters } = openedState(explored).view === view ? explored : withChange(explored, { view: "explore" });
  const query = new URLSearchParams(parameters).toString();
  const path = view === "explore" ? "./" : view;

  return query ? `${path}?${query}` : path;
}
