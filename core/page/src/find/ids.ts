/** Finds the ids of spans and traces in a text that a user pastes: an id, a header with
 * a trace context, or an address of Grafana, Jaeger, Zipkin or this page. */

export interface Ids {
  traces: string[];
  spans: string[];
}

/** Texts with more ids are not read to their end. */
const IDS_MAX = 40;

/** Trace ids that are not written as 32 digits: a UUID, and the header of AWS X-Ray. */
const OTHER_FORMS = [
  /(?<![0-9a-z])([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})(?![0-9a-z])/g,
  /(?<![0-9a-z])1-([0-9a-f]{8})-([0-9a-f]{24})(?![0-9a-z])/g,
];
const ID = /(?<![0-9a-z])(?:0x)?([0-9a-f]{32}|[0-9a-f]{16})(?![0-9a-z])/g;
/** Jaeger omits leading zeros, in its addresses and in the header `uber-trace-id`. */
const JAEGER_ADDRESS = /\/traces?\/([0-9a-f]{1,31})(?![0-9a-z])/g;
const JAEGER_HEADER = /^(?:uber-trace-id: *)?([0-9a-f]{1,32}):([0-9a-f]{1,16}):[0-9a-f]{1,16}:[0-9a-f]{1,2}$/;
/** An id without its leading zeros, alone in the text. Shorter ones may be names. */
const SHORT = /^(?:0x)?([0-9a-f]{12,31})$/;

/** Addresses may be encoded several times, for example in a redirection. */
function decoded(text: string): string {
  try {
    const once = decodeURIComponent(text);
    return once === text ? text : decoded(once);
  } catch {
    return text;
  }
}

/** Returns the ids in the order of the text. The digits of a short id may be those of
 * a span or of a trace, so both lists have it. */
export function idsIn(text: string): Ids {
  const plain = decoded(text.trim().slice(0, 10_000)).toLowerCase();
  const traces = new Set<string>(), spans = new Set<string>();
  const add = (digits: string): void => {
    if (digits.length <= 16)
      spans.add(digits.padStart(16, "0"));
    traces.add(digits.padStart(32, "0"));
  };
  const header = JAEGER_HEADER.exec(plain);

  if (header) {
    traces.add(header[1]!.padStart(32, "0"));
    spans.add(header[2]!.padStart(16, "0"));
  }
  for (const [, digits] of plain.matchAll(ID))
    add(digits!);
  for (const [, digits] of plain.matchAll(JAEGER_ADDRESS))
    traces.add(digits!.padStart(32, "0"));
  for (const form of OTHER_FORMS)
    for (const [, ...parts] of plain.matchAll(form))
      traces.add(parts.join(""));
  const short = SHORT.exec(plain);
  if (short)
    add(short[1]!);
  return { traces: [...traces].slice(0, IDS_MAX), spans: [...spans].slice(0, IDS_MAX) };
}
