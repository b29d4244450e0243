/** Single spans, from the dearest or the slowest on. */
import type { WireSpan } from "../model/wire.ts";
import { h, shown } from "../parts/dom.ts";
import { isLeft } from "../parts/api.ts";
import { faultText } from "../shell/faults.ts";
import type { View } from "../views/view.ts";
import { durationText, idText, nameText, samplesCell, valueBar } from "./cells.ts";
import type { Asked } from "./empty.ts";
import { elsewhere, type Measure } from "./links.ts";
import { table, type Column, type Table } from "./table.ts";

const PAGE_ROWS = 15;

export interface RankedOptions {
  asked: Asked;
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
      href: view.address(elsewhere({ span: row.spanId, trace: row.traceId ?? undefined }), "span"), title: `Span ${row.spanId ?? ""}`,
    }, idText(row.spanId ?? "")) },
    { id: "name", title: "Name", cell: (row) => h("span", { class: "span-name", title: row.name === null ? undefined : shown(row.name, 1000) },
      h("span", {}, nameText(row.name))) },
    { id: "total", title: measure.name, numeric: true, cell: (row) => valueBar(row.total, 0, measure.unit, row.samples) },
    { id: "samples", title: "Samples", numeric: true, cell: (row) => samplesCell(row.samples) },
    { id: "duration", title: "Duration", numeric: true, cell: (row) => durationText(row.durationNs) },
    { id: "trace", title: "Trace", cell: (row) => row.traceId ? h("a", {
      href: view.address(elsewhere({ trace: row.traceId, span: row.spanId }), "trace"), "aria-label": `Trace of span ${row.spanId ?? ""}`,
    }, "trace") : "\u2013" },
  ];
}

/** A section with the first of them, and a button for more. */
export async function rankedSpans(view: View, options: RankedOptions): Promise<HTMLElement> {
  const { asked, sort, title, measure } = options;
  const get = async (after?: string): Promise<Page> => await view.api.get<Page>("spans",
    { ...asked, by: "id", sort, limit: PAGE_ROWS, after }, view.signal);
  // Those without a trace are last of the slowest, and have no duration.
  const ranked = (page: Page): WireSpan[] => sort === "duration" ? page.spans.filter(({ traced }) => traced > 0) : page.spans;
  let page = await get();
  let rows = ranked(page);
  const list: Table<WireSpan> = table({ label: title, rows, columns: columnsOf(view, options) });
  const more = h("button", { type: "button", onclick: () => { next(); } }, "More");
  const ended = (): boolean => page.after === null || (sort === "duration" && ranked(page).length < page.spans.length);

  function next(): void {
    more.disabled = true;
    get(page.after ?? undefined).then((answer) => {
      page = answer;
      rows = [...rows, ...ranked(page)];
      list.setRows(rows);
      more.disabled = false;
      more.hidden = ended();
    }, (error: unknown) => {
      more.disabled = false;
      if (!isLeft(error))
        more.before(faultText(error));
    });
  }

  more.hidden = ended();
  return h("section", {}, h("h2", {}, title), rows.length ? list.element : h("p", { class: "faint" }, sort === "total"
    ? `No span has ${measure.name} samples here.`
    : "No trace of these spans is kept in this range, so their durations are not known. Traces are taken by OTLP, at /v1/traces."), more);
}
