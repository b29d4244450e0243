/** Looks up a typed or pasted text on the server: ids first, else names of services and
 * spans. */
import { ALL_TIME } from "../explore/default.ts";
import { rangeChange, rangeName } from "../model/range.ts";
import type { Change, State, ViewName } from "../model/state.ts";
import type { WireApplication, WireFound, WireRoot, WireSpan } from "../model/wire.ts";
import type { Api } from "../parts/api.ts";
import { safeText } from "../parts/dom.ts";
import { escapedRegex, quoted, withApplication, withMatcher } from "../query/parse.ts";
import { nameText } from "../spans/cells.ts";
import { spanNameChange, toOtherView } from "../spans/links.ts";
import { idsIn, type Ids } from "./ids.ts";

/** A place of the page that a text leads to. */
export interface Place {
  title: string;
  /** The kind of the result: "service", "span name of shop". */
  kind: string;
  view: ViewName;
  change: Change;
}

export interface Places {
  places: Place[];
  /** Whether the first place is opened without a choice. */
  isCertain: boolean;
  /** The reason if there are no places. */
  nothing: string;
}

const NAMES_MAX = 20;
const ROOTS_MAX = 1000;

/** The range of a result, in whole milliseconds around it. */
function rangeOfFound({ startNs, durationNs }: WireFound): Change {
  return rangeChange({ fromMs: Math.floor(startNs / 1e6), untilMs: Math.ceil((startNs + durationNs) / 1e6) + 1 });
}

function tracePlace(found: WireFound, span: WireFound | undefined): Place {
  const change = found.stored
    ? { trace: found.traceId ?? undefined, span: span?.spanId ?? undefined }
    : { query: `{trace_id=${quoted(found.traceId ?? "")}}`, ...rangeOfFound(found) };

  return { title: nameText(found.name), kind: "trace", view: found.stored ? "trace" : "explore", change: toOtherView(change) };
}

function spanPlace(found: WireFound): Place {
  return {
    title: nameText(found.name), kind: "span", view: "span",
    change: toOtherView({ query: undefined, span: found.spanId ?? undefined, trace: found.traceId ?? undefined, ...rangeOfFound(found) }),
  };
}

/** Traces come first. A found span of a found trace is selected in this trace. */
function placesOfIds({ spans, traces }: { spans: WireFound[]; traces: WireFound[] }): Place[] {
  const ofTraces = traces.map((trace) => tracePlace(trace, spans.find(({ traceId, stored }) => stored && traceId === trace.traceId)));
  const others = spans.filter(({ traceId }) => !traces.some((trace) => trace.traceId === traceId));

  return [...ofTraces, ...others.map(spanPlace)];
}

async function findIds(api: Api, { spans, traces }: Ids, signal: AbortSignal): Promise<Places> {
  const found = await api.get<{ spans: WireFound[]; traces: WireFound[] }>("find",
    { ...ALL_TIME, span: spans.join(","), trace: traces.join(",") }, signal);

  return {
    places: placesOfIds(found), isCertain: true,
    nothing: "This server has no trace and no span with this id: it was never sent here, or has been deleted.",
  };
}

/** How well a name matches: 0 is equal, 1 begins with the text, 2 contains it. */
function distance(name: string, text: string): number {
  const at = name.toLowerCase().indexOf(text.toLowerCase());

  return name === text ? 0 : at === 0 ? 1 : 2;
}

function placesOfNames(text: string, applications: readonly WireApplication[], names: readonly WireSpan[], roots: readonly WireRoot[]): Place[] {
  const has = (name: string | null): name is string => name !== null && name.toLowerCase().includes(text.toLowerCase());
  const profiled = new Set(applications.map(({ name }) => name));
  const known = new Set(names.map(({ name }) => name));
  const traced = new Set(roots.map(({ service }) => service).filter((service) => has(service) && !profiled.has(service)));
  const services = [...profiled].filter(has).map((name): Place =>
    ({ title: name, kind: "service", view: "explore", change: toOtherView({ query: withApplication("", name) }) }));
  const tracedServices = [...traced].map((name): Place =>
    ({ title: name, kind: "service with traces", view: "traces", change: toOtherView({ service: name }) }));
  const spans = names.filter(({ name }) => has(name)).map(({ name, service }): Place => ({
    title: name!, kind: service === null ? "span name" : `span name of ${safeText(service, 60)}`, view: "spans",
    change: toOtherView({ query: service === null ? "{}" : withMatcher("", "service_name", service), ...spanNameChange(name) }),
  }));
  const tracedSpans = roots.filter(({ name }) => has(name) && !known.has(name)).map(({ name, service }): Place =>
    ({ title: name, kind: `root span of ${safeText(service, 60)}`, view: "traces", change: toOtherView({ service, name }) }));

  return [...services, ...tracedServices, ...spans, ...tracedSpans]
    .sort((a, b) => distance(a.title, text) - distance(b.title, text)).slice(0, NAMES_MAX);
}

async function findNames(api: Api, text: string, { parameters: { type, from, until } }: State, signal: AbortSignal): Promise<Places> {
  const range = { from, until };
  const [{ applications }, { spans }, { roots }] = await Promise.all([
    api.get<{ applications: WireApplication[] }>("applications", range, signal),
    api.get<{ spans: WireSpan[] }>("spans", { ...range, type, query: `{span_name=~${quoted(`(?is).*${escapedRegex(text)}.*`)}}`, limit: NAMES_MAX }, signal),
    api.get<{ roots: WireRoot[] }>("roots", { ...range, limit: ROOTS_MAX }, signal),
  ]);
  const places = placesOfNames(text, applications, spans, roots);

  return {
    places, isCertain: places.length === 1 || places.filter(({ title }) => title === text).length === 1,
    nothing: `No id was recognised, and no service or span name in this time range (${rangeName(from, until)}) contains \u201c${safeText(text, 60)}\u201d.`,
  };
}

/** `text` is not empty. Names are looked up in the range of the state, ids at any
 * time. */
export async function findPlaces(api: Api, text: string, state: State, signal: AbortSignal): Promise<Places> {
  const ids = idsIn(text);

  return ids.traces.length ? await findIds(api, ids, signal) : await findNames(api, text, state, signal);
}
