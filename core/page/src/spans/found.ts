/** All that the server knows of one span: its samples, its trace, its baseline. */
import type { WireSpan, WireTraceSpan } from "../model/wire.ts";
import { rangeChange, type Range } from "../model/range.ts";
import { Problem } from "../parts/api.ts";
import { applicationOf, withMatcher } from "../query/parse.ts";
import type { View } from "../views/view.ts";
import type { Asked } from "./empty.ts";
import { aroundParameters, rangeIn, spanNameQuery, withoutIds } from "./links.ts";

export interface FoundSpan {
  id: string;
  /** Its samples' part of an answer; null: neither samples nor traces have it. */
  row: WireSpan | null;
  traceId: string | null;
  /** Null: its trace is not kept, or does not have it. */
  traced: WireTraceSpan | null;
  /** When its trace began. */
  firstNs: number | null;
  name: string | null;
  service: string | null;
  /** What its own profile is asked with. */
  own: Asked;
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
    // Samples may tell of a trace that was never sent, or is kept no longer.
    if (error instanceof Problem && error.status === 404)
      return null;
    throw error;
  }
}

/** The span's own profile is asked for by its id alone: no other has it. */
export async function findSpan(view: View, id: string): Promise<FoundSpan> {
  const { query, type } = view.state.parameters;
  const own: Asked = { type, ...aroundParameters(view.state), span: id };
  const { spans } = await view.api.get<{ spans: WireSpan[] }>("spans", { ...own, by: "id", limit: 1 }, view.signal);
  const row = spans[0] ?? null;
  const traceId = row?.traceId ?? view.state.parameters["trace"] ?? null;
  const traced = traceId === null ? null : await tracedOf(view, traceId, id);
  const base = withoutIds(query ?? "");

  return {
    id, row, traceId: traced ? traceId : row?.traceId ?? null, traced: traced?.span ?? null, firstNs: traced?.firstNs ?? null,
    name: row?.name ?? traced?.span.name ?? null, service: row?.service ?? traced?.span.service ?? applicationOf(base), own,
  };
}

const HOUR_MS = 3_600_000;

export interface Baseline extends Asked {
  query: string;
  from: string;
  until: string;
  /** Of it, in words. */
  says: string;
}

/** The range of the address, and of the hour before the span: the links on spans
 * begin where the span does. */
function baselineRange(view: View, found: FoundSpan): Range {
  const range = rangeIn(view.state) ?? { fromMs: Date.now() - HOUR_MS, untilMs: Date.now() };
  const beginMs = found.traced ? Math.floor(found.traced.startNs / 1e6) : range.fromMs;

  return { fromMs: Math.max(0, Math.min(range.fromMs, beginMs - HOUR_MS)), untilMs: range.untilMs };
}

/** Same service and name, whatever the id. Without a name, all spans of the
 * service. */
export function baselineOf(view: View, found: FoundSpan): Baseline {
  const { service, row } = found;
  const range = rangeChange(baselineRange(view, found));
  // The name of samples; a trace's may differ where they have none.
  const name = row?.name ?? null;
  const inService = service === null ? "{}" : withMatcher("", "service_name", service);
  const query = name === null ? anySpan(inService) : spanNameQuery(inService, name);

  return {
    ...range, type: view.state.parameters["type"], query,
    says: name === null ? `all spans of ${service ?? "all services"}, since samples of this one have no name` : "spans of the same service and name",
  };
}

function anySpan(query: string): string {
  return query === "{}" ? '{profile_id!=""}' : `${query.slice(0, -1)},profile_id!=""}`;
}
