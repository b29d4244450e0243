/** Details of a span from its trace: times, status, attributes. */
import type { WireTraceSpan } from "../model/wire.ts";
import type { Branch } from "./forest.ts";
import { copyText } from "../flame/copy.ts";
import { h, safeText } from "../parts/dom.ts";
import { amount, exactMoment } from "../parts/format.ts";
import { zoneOf } from "../parts/zone.ts";
import { durationText, fewSamples, idText, nameText } from "../spans/cells.ts";

const VALUE_SHOWN_MAX = 1000;
const KINDS = ["unspecified", "internal", "server", "client", "producer", "consumer"];
const STATUSES = ["unset", "ok", "error"];

type Row = readonly [name: string, value: Node | string];

/** A list of names and values, as a `dl` element. */
export function facts(rows: readonly Row[]): HTMLElement {
  return h("dl", { class: "facts" }, ...rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

function valueText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A long value is cut, with a button that copies the whole value. */
function attributeValue(value: unknown): HTMLElement {
  const text = valueText(value);
  const isWhole = text.length <= VALUE_SHOWN_MAX;

  return h("span", { class: "attribute" }, safeText(text, VALUE_SHOWN_MAX), !isWhole && h("button", {
    type: "button", class: "small", onclick: (event: MouseEvent) => {
      const button = event.currentTarget as HTMLElement;
      void copyText(text).then((isCopied) => { button.textContent = isCopied ? "Copied" : "The browser does not allow copying"; });
    },
  }, `Copy all ${text.length.toLocaleString("en")} characters`));
}

function attributeRows(attributes: Record<string, unknown>): Row[] {
  return Object.entries(attributes).sort(([a], [b]) => a < b ? -1 : 1)
    .map(([name, value]) => [safeText(name, 200), attributeValue(value)]);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The attributes of a span, followed by those of its resource. */
export function attributeTables(span: WireTraceSpan): HTMLElement {
  const { resource, ...own } = span.attributes;
  const rows = attributeRows(isObject(resource) ? own : span.attributes);

  return h("div", { class: "attributes" },
    h("h3", {}, "Attributes"), rows.length ? facts(rows) : h("p", { class: "faint" }, "No attributes."),
    isObject(resource) && h("h3", {}, "Resource"), isObject(resource) && facts(attributeRows(resource)));
}

export function statusText(span: { status: number; statusMessage?: string }): string {
  const name = STATUSES[span.status] ?? `status ${span.status}`;

  return span.statusMessage ? `${name}: ${safeText(span.statusMessage, VALUE_SHOWN_MAX)}` : name;
}

/** `beginNs` is the time since the start of the trace; null if not known. */
export function traceFacts(span: WireTraceSpan, beginNs: number | null): Row[] {
  return [
    ["Service", safeText(span.service, 200)],
    ["Kind", KINDS[span.kind] ?? `kind ${span.kind}`],
    ["Status", h("span", { class: span.status === 2 ? "fault" : undefined }, statusText(span))],
    ["Start", `${exactMoment(span.startNs / 1e6)} ${zoneOf(span.startNs / 1e6)}${beginNs === null ? "" : ` (${amount(beginNs, "nanoseconds")} into the trace)`}`],
    ["Duration", durationText(span.durationNs)],
  ];
}

/** `pageLink` leads to the span's page. */
export function spanDetails({ span, beginNs }: Branch, unit: string, valueName: string, pageLink: HTMLElement): HTMLElement {
  return h("div", { class: "details-of" },
    h("h2", {}, nameText(span.name)), h("p", {}, pageLink),
    facts([...traceFacts(span, beginNs),
      [`Self ${valueName}`, h("span", {}, `${amount(span.own, unit)}, ${span.samples} ${span.samples === 1 ? "sample" : "samples"} `, span.samples > 0 && fewSamples(span.samples))],
      [`Total ${valueName}`, amount(span.total, unit)],
      ["Span", idText(span.spanId)], ["Parent", span.parentId === null ? "none" : idText(span.parentId)]]),
    attributeTables(span));
}
