/** The columns of a table of functions, and what stands in them. */
import { amount, count, fewOf, percent, samplesPair } from "../parts/format.ts";
import { h, shown } from "../parts/dom.ts";
import type { Functions } from "../model/tree.ts";
import type { Column, Rows } from "./rows.ts";
import { changeText, signed } from "./tip.ts";

export interface CellSource {
  readonly rows: Rows;
  readonly functions: Functions;
  readonly unit: string;
  /** Of all that is listed: what shares are of. */
  readonly whole: number;
  readonly wholeBase: number;
}

export function columnsOf(rows: Rows): Column[] {
  const samples: Column[] = rows.samples || rows.baseSamples ? ["samples"] : [];

  return rows.baseTotal ? ["name", "baseTotal", "total", "change", "relative", ...samples] : ["name", "own", "total", ...samples];
}

/** A column's heading. */
export function titleOfColumn(column: Column, rows: Rows): string {
  switch (column) {
    case "name": return "Function";
    case "own": return "Own";
    case "total": return rows.baseTotal ? "Right" : "Total";
    case "samples": return "Samples";
    case "baseTotal": return "Left";
    case "change": return "Change";
    case "relative": return "Change %";
  }
}

/** A value over a bar of its share. */
function measured(value: number, whole: number, unit: string): HTMLElement {
  const share = whole > 0 ? value / whole : 0;
  const bar = h("span", { class: "flame-bar-share", "aria-hidden": "true" });

  bar.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return h("div", { role: "gridcell", class: "flame-cell flame-number" }, bar,
    h("span", { class: "flame-amount" }, amount(value, unit)), " ", h("span", { class: "flame-share" }, percent(share)));
}

function cellOf(source: CellSource, column: Column, id: number): HTMLElement {
  const { rows, unit, whole, wholeBase } = source;
  const total = rows.total[id]!;
  const base = rows.baseTotal?.[id] ?? 0;
  const plain = (text: string, more = ""): HTMLElement => h("div", { role: "gridcell", class: `flame-cell flame-number ${more}` }, text);
  const side = total > base ? "flame-more" : total < base ? "flame-less" : "";

  switch (column) {
    case "name":
      return h("div", { role: "gridcell", class: "flame-cell flame-name" }, shown(source.functions.name[id]!, 300) || "(no name)");
    case "own": return measured(rows.own[id]!, whole, unit);
    case "total": return measured(total, whole, unit);
    case "baseTotal": return measured(base, wholeBase, unit);
    case "change": return plain(signed(total - base, unit), side);
    case "relative": return plain(changeText(total, base), side);
    case "samples": {
      const samples = rows.samples?.[id] ?? null;
      const text = rows.baseTotal ? samplesPair(rows.baseSamples?.[id] ?? null, samples) : count(samples!);
      return fewOf(rows.baseSamples?.[id] ?? null, samples)
        ? h("div", { role: "gridcell", class: "flame-cell flame-number flame-few", title: "Fewer than ten samples: no ranking." }, `${text} few`)
        : plain(text);
    }
  }
}

export function cellsOf(source: CellSource, id: number): HTMLElement[] {
  return columnsOf(source.rows).map((column) => cellOf(source, column, id));
}
