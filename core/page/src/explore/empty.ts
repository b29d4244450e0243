/** Explains why a selection is empty, and suggests others. */
import type { WireApplication, WireGaps, WireLabelValue } from "../model/wire.ts";
import { typeName, typeOf } from "../model/choice.ts";
import { rangeChange, rangeOf, type Range } from "../model/range.ts";
import type { Change } from "../model/state.ts";
import { moment } from "../parts/format.ts";
import { h, safeText } from "../parts/dom.ts";
import { applicationOf, isTypeMatcher, matcherAlone, onlyApplication, parseQuery, withApplication, withMatcher, withoutMatcher, type Matcher } from "../query/parse.ts";
import type { View } from "../views/view.ts";
import { ALL_TIME, rangeAround } from "./default.ts";
import { nearest } from "./nearest.ts";
import { startHelp } from "./start.ts";

const SUGGESTIONS_MAX = 5;
const TEXT_MAX = 120;

/** A link to another selection. */
function suggestion(view: View, text: string, change: Change): HTMLElement {
  return h("li", {}, h("a", { href: view.address(change) }, safeText(text, TEXT_MAX)));
}

function notice(text: string, ...ways: (HTMLElement | null)[]): HTMLElement {
  const offered = ways.filter((each) => each !== null);

  return h("div", { class: "empty notice", role: "status" }, h("h2", {}, text),
    offered.length > 0 && h("ul", {}, ...offered));
}

function written({ name, operator, value }: Matcher): string {
  return `${name}${operator}"${value}"`;
}

/** Offers the nearest profiles before and after an empty range. */
function noData(view: View, range: Range, gaps: WireGaps): HTMLElement {
  const go = (ms: number, after: boolean): HTMLElement => h("li", {}, h("button", {
    type: "button", onclick: () => { view.go({ ...rangeChange(rangeAround(ms, range, after)), live: undefined, zoom: undefined }); },
  }, `Show the nearest data ${after ? "after" : "before"}: ${moment(ms)}`));

  return notice(`No data from ${moment(range.fromMs)} to ${moment(range.untilMs)}`,
    gaps.before === null ? null : go(gaps.before, false), gaps.after === null ? null : go(gaps.after, true));
}

/** Links to the most similar values of a matcher's label among the profiles that `query` selects. */
async function valuesOf(view: View, query: string, matcher: Matcher): Promise<HTMLElement[]> {
  const { type } = view.state.parameters;
  const { values } = await view.api.get<{ values: WireLabelValue[] }>("labels", { query, type, label: matcher.name, limit: 1000, ...ALL_TIME }, view.signal);
  const texts = values.flatMap(({ value }) => value === null ? [] : [value]);

  return nearest(matcher.value, texts, SUGGESTIONS_MAX)
    .map((value) => suggestion(view, `${matcher.name}="${value}"`, { query: withMatcher(query, matcher.name, value) }));
}

/** Tests for each matcher whether there are profiles that match it (hasAlone), and
 * profiles that match all the other matchers (hasWithout). */
async function testMatchers(view: View, query: string): Promise<{ matcher: Matcher; without: string; hasAlone: boolean; hasWithout: boolean }[]> {
  const { type } = view.state.parameters;
  const has = async (part: string): Promise<boolean> =>
    (await view.api.get<WireGaps>("gaps", { query: part, type, ...ALL_TIME }, view.signal)).ranges.length > 0;

  return await Promise.all(parseQuery(query).matchers.map(async (matcher, index) => {
    const without = withoutMatcher(query, index);
    // emptyReason() has found profiles of this type already.
    const [hasAlone, hasWithout] = isTypeMatcher(matcher) ? [true, false] : await Promise.all([has(matcherAlone(query, matcher)), has(without)]);
    return { matcher, without, hasAlone, hasWithout };
  }));
}

/** Names the matcher that makes the result empty. Without this matcher, there are
 * profiles. Prefers a matcher that no profile matches. */
async function noMatch(view: View, query: string): Promise<HTMLElement> {
  const apart = await testMatchers(view, query);
  const excluding = apart.filter(({ hasWithout }) => hasWithout);
  const never = excluding.find(({ hasAlone }) => !hasAlone);
  const last = never ?? excluding.at(-1);

  if (!last)
    return notice(apart.length > 1 ? "No profiles match these label matchers" : "No profiles match this query",
      apart.length > 0 ? suggestion(view, "Remove all label matchers", { query: onlyApplication(query) }) : null);
  const values = await valuesOf(view, last.without, last.matcher);
  return never
    ? notice(`No profiles match ${safeText(written(never.matcher), TEXT_MAX)}`, suggestion(view, "Remove this matcher", { query: never.without }), ...values)
    : notice(`No profiles match ${safeText(written(last.matcher), TEXT_MAX)} together with the other matchers`,
      ...excluding.map(({ matcher, without }) => suggestion(view, `Remove ${written(matcher)}`, { query: without })), ...values);
}

function noApplication(view: View, name: string, names: readonly string[]): HTMLElement {
  const { query = "" } = view.state.parameters;

  return notice(`No application named \u201c${safeText(name, TEXT_MAX)}\u201d`,
    ...nearest(name, names, SUGGESTIONS_MAX).map((each) => suggestion(view, each, { query: withApplication(query, each) })));
}

function noType(view: View, application: WireApplication | undefined, types: readonly string[], type: string): HTMLElement {
  const subject = application ? `\u201c${safeText(application.name, TEXT_MAX)}\u201d has` : "No application has";

  return notice(`${subject} ${application ? "no " : ""}profiles of type ${safeText(typeName(type), TEXT_MAX)}`,
    ...types.map((each) => suggestion(view, typeName(each), { type: each })));
}

/** An element that explains why the view's query has no data in its range. */
export async function emptyReason(view: View): Promise<HTMLElement> {
  const { query = "", type, from, until } = view.state.parameters;
  const [{ applications }, gaps] = await Promise.all([
    view.api.get<{ applications: WireApplication[] }>("applications", ALL_TIME, view.signal),
    view.api.get<WireGaps>("gaps", { query, type, from, until }, view.signal),
  ]);
  const range = rangeOf(from, until) ?? rangeOf(undefined, undefined)!;
  const names = applications.map(({ name }) => name);
  const name = applicationOf(query, names);
  const application = applications.find((each) => each.name === name);

  if (applications.length === 0)
    return startHelp(view);
  if (gaps.before !== null || gaps.after !== null)
    return noData(view, range, gaps);
  if (gaps.ranges.length > 0)
    return notice("The profiles in this range have no samples");
  if (name !== null && !application)
    return noApplication(view, name, names);
  const types = application?.types ?? [...new Set(applications.flatMap((each) => each.types))].sort();
  if (!types.includes(typeOf({ query, type })))
    return noType(view, application, types, typeOf({ query, type }));
  return await noMatch(view, query);
}
