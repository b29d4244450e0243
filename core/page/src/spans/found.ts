/** The server's data on one span: its samples, its trace and its baseline. */
import type { WireSpan, WireTraceSpan } from "../model/wire.ts";
import { rangeChange, type Range } from "../model/range.ts";
import { Problem } from "../parts/api.ts";
import { applicationOf, withMatcher } from "../query/parse.ts";
import type { View } from "../views/view.ts";
import type { ProfileSelection } from "../model/choice.ts";
import { parametersWithMargin, rangeIn, spanNameQuery, withoutIds } from "./links.ts";

export interface FoundSpan {
  id: string;
  /** The span's row in the list of spans; null if neither samples nor traces have the span. */
  row: WireSpan | null;
  traceId: string | null;
  /** The span in its trace; null if the server does not have it. */
  traced: WireTraceSpan | null;
  /** Start of the trace; null if the server does not have the trace. */
  firstNs: number | null;
  name: string | null;
  service: string | null;
  /** Parameters of the request for the span's profile. */
  selection: ProfileSelection;
}

interface Traced {
  span: WireTraceSpan;
  firstNs: number;
}

async function tracedOf(view: View, traceId: string, id: string): Promise<Traced | null> {
  try {
    const { spans } = await view.api.get<{ spans: WireTraceSpan[] }>(`trace/${encodeURIComponent(traceId)}`, {}, view.signal);
    const span = spans.find(({ spanId }) => spanId === id);
    return span ? { span, firstNs: spans.reduce((least, each) => Math.min(least, each.startNs), Infinity) } : null;
  } catch (error) {
    // Ignore a missing trace: samples may have the id of a trace that was never sent,
    // or has been deleted.
    if (error instanceof Problem && error.status === 404)
      return null;
    throw error;
  }
}

/** Loads a span. The span's id alone selects its profile, since ids are unique. */
export async function findSpan(view: View, id: string): Promise<FoundSpan> {
  const { query, type } = view.state.parameters;
  const selection: ProfileSelection = { type, ...parametersWithMargin(view.state), span: id };
  const { spans } = await view.api.get<{ spans: WireSpan[] }>("spans", { ...selection, by: "id", limit: 1 }, view.signal);
  const row = spans[0] ?? null;
  const traceId = row?.traceId ?? view.state.parameters["trace"] ?? null;
  const traced = traceId === null ? null : await tracedOf(view, traceId, id);
  const base = withoutIds(query ?? "");

  return {
    id, row, traceId: traced ? traceId : row?.traceId ?? null, traced: traced?.span ?? null, firstNs: traced?.firstNs ?? null,
    name: row?.name ?? traced?.span.name ?? null, service: row?.service ?? traced?.span.service ?? applicationOf(base), selection,
  };
}

const HOUR_MS = 3_600_000;

export interface Baseline extends ProfileSelection {
  query: string;
  from: string;
  until: string;
  /** Description of the baseline. */
  description: string;
}

/** Returns the range of the address, extended to an hour before the span. The range of
 * a link to a span starts with the span, so it has few other spans. */
function baselineRange(view: View, found: FoundSpan): Range {
  const range = rangeIn(view.state) ?? { fromMs: Date.now() - HOUR_MS, untilMs: Date.now() };
  const beginMs = found.traced ? Math.floor(found.traced.startNs / 1e6) : range.fromMs;

  return { fromMs: Math.max(0, Math.min(range.fromMs, beginMs - HOUR_MS)), untilMs: range.untilMs };
}

/** The baseline of a span: all spans of the same service and name; without a name, all
 * spans of the service. */
export function baselineOf(view: View, found: FoundSpan): Baseline {
  const { service, row } = found;
  const range = rangeChange(baselineRange(view, found));
  // Use the name in the samples, since the query selects by it. The trace may have another name.
  const name = row?.name ?? null;
  const inService = service === null ? "{}" : withMatcher("", "service_name", service);
  const query = name === null ? anySpan(inService) : spanNameQuery(inService, name);

  return {
    ...range, type: view.state.parameters["type"], query,
    description: name === null ? `all spans of ${service ?? "all services"} (the samples of this span have no name)` : "spans of the same service and name",
  };
}

function anySpan(query: string): string {
  return query === "{}" ? '{profile_id!=""}' : `${query.slice(0, -1)},profile_id!=""}`;
}
