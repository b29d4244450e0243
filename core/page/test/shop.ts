/** Spans with known values for the tests of spans, traces and comparisons. A sample
 * stands for 10 ms. */
import { pprof } from "./pprof.ts";
import type { Server, TraceSpan } from "./server.ts";

export const SAMPLE_NS = 10_000_000;

export interface ShopSpan {
  id: string;
  /** undefined: the samples have no span name. */
  name?: string;
  service?: string;
  /** Folded stacks with their numbers of samples. */
  stacks: string;
  /** End of the profile. */
  untilMs: number;
}

/** Sends a profile of the span for the ten seconds before `untilMs`. */
export async function pushSpan(server: Server, span: ShopSpan): Promise<void> {
  const labels = { profile_id: span.id, ...span.name === undefined ? {} : { span_name: span.name } };
  const samples = span.stacks.trim().split("\n").map((line) => {
    const space = line.lastIndexOf(" ");
    return { stack: line.slice(0, space), valueNs: Number(line.slice(space + 1)) * SAMPLE_NS, labels };
  });
  const fromMs = Math.floor(span.untilMs / 1000) * 1000 - 10_000;
  const query = new URLSearchParams({
    name: span.service ?? "shop", format: "pprof", from: String(fromMs / 1000), until: String(fromMs / 1000 + 10),
  });

  await server.send(`ingest?${query.toString()}`, pprof(samples, fromMs, 10_000, SAMPLE_NS), "application/octet-stream");
}

export const spanId = (number: number): string => number.toString(16).padStart(16, "0");
export const traceId = (number: number): string => number.toString(16).padStart(32, "0");

/** A trace of a shop: a root, its child, and a grandchild in the database. */
export function shopTrace(number: number, startMs: number): TraceSpan[] {
  const id = (offset: number): string => spanId(number * 16 + offset);
  const trace = traceId(number);

  return [
    { traceId: trace, spanId: id(1), name: "GET /cart", startMs, durationMs: 400, attributes: { "http.route": "/cart", "url.path": `/cart/${number}` } },
    { traceId: trace, spanId: id(2), parentSpanId: id(1), name: "render", startMs: startMs + 50, durationMs: 300 },
    { traceId: trace, spanId: id(3), parentSpanId: id(2), name: "SELECT cart", startMs: startMs + 60, durationMs: 100 },
  ];
}
