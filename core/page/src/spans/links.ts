/** Queries and addresses for links between the views about spans. */
import { ID_LABELS, escapedRegex, parseQuery, quoted, withMatcher, withoutMatcher, withoutValue } from "../query/parse.ts";
import { typeName, typeOf, unitOf } from "../model/choice.ts";
import { rangeChange, rangeOf, type Range } from "../model/range.ts";
import type { Change, State } from "../model/state.ts";

/** Parameters of single views, which links to other views drop. */
const VIEW_PARAMETERS = [
  "zoom", "search", "focus", "hide", "sandwich", "span", "trace", "recursion", "spanName", "noName", "by", "order", "name", "service",
  "ticked", "filter", "label", "against", "minDuration", "attributes", "status", "part", "after", "clock", "of", "scale", "closed", "lines",
  "leftQuery", "leftFrom", "leftUntil", "rightQuery", "rightFrom", "rightUntil",
] as const;

export function toOtherView(change: Change): Change {
  return { ...Object.fromEntries(VIEW_PARAMETERS.map((name) => [name, undefined])), ...change };
}

/** Maximum time between the start of a profile and its samples. Uploads are 10 or 15
 * seconds apart, and the server uses the same bound for traces. */
export const PROFILE_MS = 120_000;

/** A range that contains the profiles of all samples of `range`. */
export function withMargin(range: Range): Range {
  return { fromMs: Math.max(0, range.fromMs - PROFILE_MS), untilMs: range.untilMs + PROFILE_MS };
}

/** The range of a state; null if the server would refuse its times. */
export function rangeIn(state: State): Range | null {
  return rangeOf(state.parameters["from"], state.parameters["until"]);
}

export function rangeParameters(state: State): Change {
  return { from: state.parameters["from"], until: state.parameters["until"] };
}

export function parametersWithMargin(state: State): Change {
  const range = rangeIn(state);

  return range ? rangeChange(withMargin(range)) : rangeParameters(state);
}

/** Longer names are queried by their prefix, since the length of addresses is limited. */
const NAME_MAX = 1000;

/** The query for one span name; null selects spans without a name. */
export function spanNameQuery(query: string, name: string | null): string {
  const unnamed = withMatcher(query, "span_name", "");

  if (name === null)
    return `${unnamed.slice(0, -1)},profile_id!=""}`;
  if (name.length <= NAME_MAX)
    return withMatcher(query, "span_name", name);
  return `${unnamed.slice(0, -'=""}'.length)}=~${quoted(`${escapedRegex(name.slice(0, NAME_MAX))}(?s:.*)`)}}`;
}

/** Returns the query with a matcher that excludes one span name, or null if the name is
 * too long for an address. */
export function withoutSpanName(query: string, name: string | null): string | null {
  return (name ?? "").length > NAME_MAX ? null : withoutValue(query, "span_name", name ?? "");
}

/** The parameters for the selected name. A name that is too long has none. */
export function spanNameChange(name: string | null): Change {
  return { spanName: name === null || name.length > NAME_MAX ? undefined : name, noName: name === null ? "1" : undefined };
}

export function spanQuery(query: string, spanId: string): string {
  return withMatcher(withoutIds(query), "profile_id", spanId);
}

export function withoutIds(query: string): string {
  const { matchers } = parseQuery(query);
  let remaining = query;

  for (let index = matchers.length - 1; index >= 0; index--)
    if (ID_LABELS.includes(matchers[index]!.name))
      remaining = withoutMatcher(remaining, index);
  return remaining;
}

/** The id of the span that a query selects; null if it selects none. */
export function spanIdOf(query: string): string | null {
  const found = parseQuery(query).matchers.find(({ name, operator, value }) =>
    (name === "profile_id" || name === "span_id") && operator === "=" && value !== "");

  return found?.value ?? null;
}

/** The unit and the display name of the selected values, for example "CPU". */
export interface Measure {
  unit: string;
  name: string;
}

export function measureOf(state: State): Measure {
  const type = typeOf(state.parameters);
  const name = typeName(type);

  return { unit: unitOf(type), name: name === "cpu" ? "CPU" : name };
}
