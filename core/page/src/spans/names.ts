/** The table of span names. */
import type { WireSpan } from "../model/wire.ts";
import { amount, count, percent } from "../parts/format.ts";
import type { View } from "../views/view.ts";
import { durationText, samplesCell, valueBar } from "./cells.ts";
import type { Measure } from "./links.ts";
import { nameList, type NameList } from "./name_list.ts";
import type { Column } from "./table.ts";

/** The sums of all rows, which change with the rows. */
export interface NameSums {
  /** 100 % of the shares: the value of all samples, in and outside of spans. */
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

function columnsOf({ unit, name }: Measure, sums: NameSums): Column<WireSpan>[] {
  return [
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

export function sumsOf(rows: readonly WireSpan[], outside: number): NameSums {
  return { whole: rows.reduce((sum, { total }) => sum + total, outside), most: rows.reduce((max, { total }) => Math.max(max, total), 0) };
}

export function namesTable(view: View, measure: Measure, sums: NameSums, onChoose: (name: string | null) => void): NameList<WireSpan> {
  return nameList<WireSpan>(view, {
    label: "Span names", order: "total", columns: columnsOf(measure, sums), onChoose, rowClass: (row) => row.samples < SAMPLES_FEW ? "doubtful" : undefined,
  });
}
