/** The table of span names. */
import type { WireSpan } from "../model/wire.ts";
import { h, safeText } from "../parts/dom.ts";
import { amount, count, percent } from "../parts/format.ts";
import type { View } from "../views/view.ts";
import { durationText, nameText, samplesCell, valueBar } from "./cells.ts";
import { toOtherView, spanNameQuery, type Measure } from "./links.ts";
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

function columnsOf(view: View, { unit, name }: Measure, sums: Sums, choose: (row: WireSpan) => void): Column<WireSpan>[] {
  const query = view.state.parameters["query"] ?? "";

  return [
    { id: "name", title: "Name", key: (row) => row.name ?? "", cell: (row) => h("span", { class: "span-name" },
      h("button", {
        type: "button", class: "choose", title: "Show the flame graph below", onclick: () => { choose(row); },
        "aria-label": `Flame graph of ${nameText(row.name)}`,
      }, "\u25e7"),
      h("a", { href: view.address(toOtherView({ query: spanNameQuery(query, row.name) }), "explore"), title: safeText(row.name ?? "", 1000) || undefined },
        nameText(row.name))) },
    { id: "service", title: "Service", key: (row) => row.service ?? "", cell: (row) => row.service === null ? "several" : safeText(row.service, 80) },
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
  const filter = h("input", { type: "search", placeholder: "Filter names", "aria-label": "Filter names", oninput: () => { list(); } });
  const status = h("span", { class: "faint", role: "status" });
  let { selectedName: chosen } = options;
  let all: readonly WireSpan[] = [];
  const rows = table<WireSpan>({
    label: "Span names", rowsStep: 15, rows: all, order: view.state.parameters["by"] ?? "total",
    onOrder: (by) => { view.updateAddress({ by }); },
    rowClass: (row) => [row.name === chosen && "selected", row.samples < SAMPLES_FEW && "doubtful"].filter(Boolean).join(" ") || undefined,
    columns: columnsOf(view, options.measure, sums, (row) => {
      chosen = row.name;
      list();
      options.onChoose(row.name);
    }),
  });

  function list(): void {
    const filterText = filter.value.toLowerCase();
    const found = filterText === "" ? all : all.filter((row) => nameText(row.name).toLowerCase().includes(filterText));
    rows.setRows(found);
    status.textContent = filterText === "" ? "" : found.length === 0 ? "No matching names" : `${count(found.length)} of ${count(all.length)}`;
  }

  return {
    element: h("section", { "aria-label": "Span names" }, h("div", { class: "tools" }, filter, " ", status), rows.element),
    set(now, outside) {
      all = now;
      sums.whole = now.reduce((sum, { total }) => sum + total, outside);
      sums.most = now.reduce((max, { total }) => Math.max(max, total), 0);
      list();
    },
  };
}
