/** A list of single spans, sorted by value or duration. */
import type { WireSpan } from "../model/wire.ts";
import { h, safeText } from "../parts/dom.ts";
import { LatestRequest } from "../parts/latest.ts";
import { loadPart } from "../shell/errors.ts";
import type { View } from "../views/view.ts";
import { durationText, idText, nameText, samplesCell, valueBar } from "./cells.ts";
import type { ProfileSelection } from "../model/choice.ts";
import { toOtherView, type Measure } from "./links.ts";
import { table, type Column, type Table } from "./table.ts";

const PAGE_ROWS = 15;
/** The largest number of spans that the server returns. */
const READ_MAX = 10_000;

export interface RankedOptions {
  selection: ProfileSelection;
  sort: "total" | "duration";
  title: string;
  measure: Measure;
}

interface Page {
  spans: WireSpan[];
  after: string | null;
}

function columnsOf(view: View, { measure }: RankedOptions): Column<WireSpan>[] {
  return [
    { id: "span", title: "Span", cell: (row) => h("a", {
      href: view.address(toOtherView({ span: row.spanId, trace: row.traceId ?? undefined }), "span"), title: `Span ${row.spanId ?? ""}`,
    }, idText(row.spanId ?? "")) },
    { id: "name", title: "Name", cell: (row) => h("span", { class: "span-name", title: row.name === null ? undefined : safeText(row.name, 1000) },
      h("span", {}, nameText(row.name))) },
    { id: "total", title: measure.name, numeric: true, cell: (row) => valueBar(row.total, 0, measure.unit, row.samples) },
    { id: "samples", title: "Samples", numeric: true, cell: (row) => samplesCell(row.samples) },
    { id: "duration", title: "Duration", numeric: true, cell: (row) => durationText(row.durationNs) },
    { id: "trace", title: "Trace", cell: (row) => row.traceId ? h("a", {
      href: view.address(toOtherView({ trace: row.traceId, span: row.spanId }), "trace"), "aria-label": `Trace of span ${row.spanId ?? ""}`,
    }, "trace") : "\u2013" },
  ];
}

export interface Ranked {
  readonly element: HTMLElement;
  /** Loads as many spans as are shown. */
  load(): Promise<void>;
}

/** A section with the first spans and a button for more. `signal` is aborted when
 * another list replaces this one. */
export function rankedSpans(view: View, signal: AbortSignal, options: RankedOptions): Ranked {
  const { selection, sort, title, measure } = options;
  const latest = new LatestRequest(signal);
  const none = h("p", { class: "faint", hidden: true }, sort === "total"
    ? `No spans with ${measure.name} samples.`
    : "No traces of these spans in this time range, so their durations are unknown. Send traces (OTLP) to /v1/traces.");
  const list: Table<WireSpan> = table({ label: title, rows: [], rowsStep: Infinity, columns: columnsOf(view, options) });
  const fault = h("div", {});
  const more = h("button", { type: "button", hidden: true, onclick: () => { void get(rows, PAGE_ROWS, after); } }, "Show more");
  let rows: WireSpan[] = [];
  let read = 0;
  let after: string | undefined;

  async function get(before: readonly WireSpan[], limit: number, from?: string): Promise<void> {
    const call = latest.next();

    more.disabled = true;
    await loadPart(view, call, async () => {
      const page = await view.api.get<Page>("spans", { ...selection, by: "id", sort, limit, after: from }, call);
      // Sorted by duration, spans without a trace come last and have no duration.
      const ranked = sort === "duration" ? page.spans.filter(({ traced }) => traced > 0) : page.spans;

      rows = [...before, ...ranked];
      read = from === undefined ? limit : read + limit;
      after = page.after ?? undefined;
      fault.replaceChildren();
      list.setRows(rows);
      list.element.hidden = rows.length === 0;
      none.hidden = rows.length > 0;
      more.hidden = after === undefined || ranked.length < page.spans.length;
    }, (wrong) => { fault.replaceChildren(wrong); });
    if (!call.aborted)
      more.disabled = false;
  }

  list.element.hidden = true;
  return {
    element: h("section", {}, h("h2", {}, title), list.element, none, fault, more),
    load: async () => { await get([], Math.min(READ_MAX, Math.max(PAGE_ROWS, read))); },
  };
}
