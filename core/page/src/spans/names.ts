/** The table of span names. */
import type { WireSpan } from "../model/wire.ts";
import { h, safeText } from "../parts/dom.ts";
import { filterBox } from "../parts/filter.ts";
import { amount, count, percent } from "../parts/format.ts";
import { includeLinks } from "../query/include.ts";
import { Pair } from "../query/pair.ts";
import { withMatcher, withoutValue } from "../query/parse.ts";
import type { View } from "../views/view.ts";
import { durationText, nameText, samplesCell, valueBar } from "./cells.ts";
import { spanNameQuery, withoutSpanName, type Measure } from "./links.ts";
import { table, type Column } from "./table.ts";

export interface NamesOptions {
  measure: Measure;
  selectedName: string | null;
  onChoose: (name: string | null) => void;
}

export interface NamesTable {
  readonly element: HTMLElement;
  /** `outside` is the value of samples outside of spans, which is a part of the whole
   * (100 %) of shares. */
  set(rows: readonly WireSpan[], outside: number): void;
}

interface Sums {
  whole: number;
  most: number;
}

const SAMPLES_FEW = 10;

function averageOf(row: WireSpan): number | null {
  return row.spans > 0 ? row.total / row.spans : null;
}

function durationColumn(id: string, title: string, hint: string, of: (row: WireSpan) => number | undefined): Column<WireSpan> {
  return { id, title, hint, numeric: true, key: (row) => of(row) ?? null, cell: (row) => durationText(of(row)) };
}

/** A row of a table by span name. */
interface Named {
  name: string | null;
  service: string | null;
}

/** The columns for name and service, with the controls of a row. */
export function namedColumns<Row extends Named>(view: View, pair: Pair, choose: (row: Row) => void): Column<Row>[] {
  const query = view.state.parameters["query"] ?? "";

  return [
    { id: "name", title: "Name", key: (row) => row.name ?? "", cell: (row) => h("span", { class: "span-name" },
      pair.checkbox(row.name),
      h("button", {
        type: "button", class: "link", title: safeText(row.name ?? "", 1000) || undefined, onclick: () => { choose(row); },
        "aria-label": `Flame graph of ${nameText(row.name)}`,
      }, nameText(row.name)),
      includeLinks(view, { label: "span name", text: nameText(row.name), only: spanNameQuery(query, row.name), without: withoutSpanName(query, row.name) })) },
    { id: "service", title: "Service", key: (row) => row.service ?? "", cell: (row) => row.service === null ? "several" : h("span", { class: "span-service" },
      safeText(row.service, 80), includeLinks(view, {
        label: "service", text: row.service, only: withMatcher(query, "service_name", row.service), without: withoutValue(query, "service_name", row.service),
      })) },
  ];
}

function columnsOf(view: View, { unit, name }: Measure, sums: Sums, pair: Pair, choose: (row: WireSpan) => void): Column<WireSpan>[] {
  return [
    ...namedColumns<WireSpan>(view, pair, choose),
    { id: "total", title: name, numeric: true, key: (row) => row.total, cell: (row) => valueBar(row.total, sums.most, unit, row.samples) },
    { id: "share", title: "Share", hint: "Share of all samples of the query, in and outside of spans", numeric: true,
      key: (row) => row.total, cell: (row) => percent(sums.whole ? row.total / sums.whole : 0) },
    { id: "samples", title: "Samples", numeric: true, key: (row) => row.samples, cell: (row) => samplesCell(row.samples) },
    { id: "spans", title: "Spans", hint: "Number of distinct spans with samples", numeric: true, key: (row) => row.spans, cell: (row) => count(row.spans) },
    { id: "average", title: `${name} per span`, hint: "Average over spans with samples", numeric: true, key: averageOf,
      cell: (row) => averageOf(row) === null ? "\u2013" : amount(averageOf(row)!, unit) },
    durationColumn("p50", "p50", "Median duration of the spans in traces", (row) => row.p50Ns),
    durationColumn("p99", "p99", "99th percentile of the duration of the spans in traces", (row) => row.p99Ns),
    durationColumn("longest", "Longest", "Longest duration of the spans in traces", (row) => row.longestNs),
    { id: "traced", title: "Traced", hint: "Number of spans in traces", numeric: true, key: (row) => row.traced, cell: (row) => count(row.traced) },
  ];
}

export function namesTable(view: View, options: NamesOptions): NamesTable {
  const sums: Sums = { whole: 0, most: 0 };
  const filter = filterBox("names", view.state.parameters["filter"] ?? "", (text) => {
    view.updateAddress({ filter: text });
    list();
  });
  const pair = new Pair({
    view, noun: "name", textOf: nameText, queryOf: (name) => spanNameQuery(view.state.parameters["query"] ?? "", name), onChange: () => { list(); },
  });
  let { selectedName: chosen } = options;
  let all: readonly WireSpan[] = [];
  const choose = (row: WireSpan): void => {
    chosen = row.name;
    list();
    options.onChoose(row.name);
  };
  const rows = table<WireSpan>({
    label: "Span names", rowsStep: 15, rows: all, order: view.state.parameters["by"] ?? "total",
    onOrder: (by) => { view.updateAddress({ by }); },
    rowClass: (row) => [row.name === chosen && "selected", row.samples < SAMPLES_FEW && "doubtful"].filter(Boolean).join(" ") || undefined,
    columns: columnsOf(view, options.measure, sums, pair, choose), onRow: choose,
  });

  function list(): void {
    rows.setRows(filter.apply(all, (row) => nameText(row.name)));
  }

  return {
    element: h("section", { "aria-label": "Span names" }, h("div", { class: "tools-row" }, filter.element, pair.element), rows.element),
    set(now, outside) {
      all = now;
      sums.whole = now.reduce((sum, { total }) => sum + total, outside);
      sums.most = now.reduce((max, { total }) => Math.max(max, total), 0);
      list();
    },
  };
}
