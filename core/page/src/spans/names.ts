/** The table of span names. */
import type { WireSpan } from "../model/wire.ts";
import { h, shown } from "../parts/dom.ts";
import { amount, count, percent } from "../parts/format.ts";
import type { View } from "../views/view.ts";
import { durationText, nameText, samplesCell, valueBar } from "./cells.ts";
import { elsewhere, spanNameQuery, type Measure } from "./links.ts";
import { table, type Column } from "./table.ts";

export interface NamesOptions {
  rows: readonly WireSpan[];
  /** Value of samples in no span, of which shares are, too. */
  rest: number;
  measure: Measure;
  chosen: string | null;
  onChoose: (name: string | null) => void;
}

const SAMPLES_FEW = 10;

function averageOf(row: WireSpan): number | null {
  return row.spans > 0 ? row.total / row.spans : null;
}

function durationColumn(id: string, title: string, hint: string, of: (row: WireSpan) => number | undefined): Column<WireSpan> {
  return { id, title, hint, numeric: true, key: (row) => of(row) ?? null, cell: (row) => durationText(of(row)) };
}

function columnsOf(view: View, options: NamesOptions, choose: (row: WireSpan) => void): Column<WireSpan>[] {
  const { unit, name } = options.measure;
  const whole = options.rows.reduce((sum, { total }) => sum + total, options.rest);
  const most = options.rows.reduce((max, { total }) => Math.max(max, total), 0);
  const query = view.state.parameters["query"] ?? "";

  return [
    { id: "name", title: "Name", key: (row) => row.name ?? "", cell: (row) => h("span", { class: "span-name" },
      h("button", {
        type: "button", class: "choose", title: "Show its flame graph below", onclick: () => { choose(row); },
        "aria-label": `Flame graph of ${nameText(row.name)}`,
      }, "\u25e7"),
      h("a", { href: view.address(elsewhere({ query: spanNameQuery(query, row.name) }), "explore"), title: shown(row.name ?? "", 1000) || undefined },
        nameText(row.name))) },
    { id: "service", title: "Service", key: (row) => row.service ?? "", cell: (row) => row.service === null ? "several" : shown(row.service, 80) },
    { id: "total", title: name, numeric: true, key: (row) => row.total, cell: (row) => valueBar(row.total, most, unit, row.samples) },
    { id: "share", title: "Share", hint: "Of everything that the query selects, in spans or not", numeric: true,
      key: (row) => row.total, cell: (row) => percent(whole ? row.total / whole : 0) },
    { id: "samples", title: "Samples", numeric: true, key: (row) => row.samples, cell: (row) => samplesCell(row.samples) },
    { id: "spans", title: "Spans", hint: "Distinct spans with samples", numeric: true, key: (row) => row.spans, cell: (row) => count(row.spans) },
    { id: "average", title: `${name} per span`, hint: "Of spans with samples", numeric: true, key: averageOf,
      cell: (row) => averageOf(row) === null ? "\u2013" : amount(averageOf(row)!, unit) },
    durationColumn("p50", "p50", "Half of the spans that are in traces took no longer", (row) => row.p50Ns),
    durationColumn("p99", "p99", "99 of 100 spans that are in traces took no longer", (row) => row.p99Ns),
    durationColumn("longest", "Longest", "Of spans that are in traces", (row) => row.longestNs),
    { id: "traced", title: "Traced", hint: "So many of the spans are in traces", numeric: true, key: (row) => row.traced, cell: (row) => count(row.traced) },
  ];
}

export function namesTable(view: View, options: NamesOptions): HTMLElement {
  let chosen = options.chosen;
  const filter = h("input", { type: "search", placeholder: "Filter names", "aria-label": "Filter names", oninput: () => { list(); } });
  const left = h("span", { class: "faint", role: "status" });
  const rows = table<WireSpan>({
    label: "Span names", rowsStep: 15, rows: options.rows, order: view.state.parameters["by"] ?? "total",
    onOrder: (by) => { view.note({ by }); },
    rowClass: (row) => [row.name === chosen && "selected", row.samples < SAMPLES_FEW && "doubtful"].filter(Boolean).join(" ") || undefined,
    columns: columnsOf(view, options, (row) => {
      chosen = row.name;
      list();
      options.onChoose(row.name);
    }),
  });

  function list(): void {
    const wanted = filter.value.toLowerCase();
    const found = wanted === "" ? options.rows : options.rows.filter((row) => nameText(row.name).toLowerCase().includes(wanted));
    rows.setRows(found);
    left.textContent = wanted === "" ? "" : found.length === 0 ? "No name contains this." : `${count(found.length)} of ${count(options.rows.length)}`;
  }

  return h("section", { "aria-label": "Span names" }, h("div", { class: "tools" }, filter, " ", left), rows.element);
}
