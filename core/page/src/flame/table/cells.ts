/** The columns and cells of the table of functions. */
import { differenceText, growthText, NOISE_HINT, noiseText, sideText } from "../../parts/change.ts";
import { amount, count, fewOf, percent, samplesPair } from "../../parts/format.ts";
import { h, safeText } from "../../parts/dom.ts";
import type { Functions } from "../../model/tree.ts";
import { shortPlaceOf } from "../stacks/code_place.ts";
import { isNoise, type Column, type Rows } from "./rows.ts";

export interface CellSource {
  readonly rows: Rows;
  readonly functions: Functions;
  readonly unit: string;
  /** The total of the listed stacks, which is 100 % in shares. */
  readonly whole: number;
  readonly wholeBase: number;
}

/** The widths of tables that have room for the files of functions. */
const FILES_MIN_PX = 520;
const DIFF_FILES_MIN_PX = 840;

export function columnsOf({ rows, functions }: Pick<CellSource, "rows" | "functions">, widthPx: number): Column[] {
  const samples: Column[] = rows.samples || rows.baseSamples ? ["samples"] : [];
  const hasRoom = widthPx >= (rows.baseTotal ? DIFF_FILES_MIN_PX : FILES_MIN_PX);
  const file: Column[] = hasRoom && functions.file.some((path) => path !== "") ? ["file"] : [];

  return rows.baseTotal ? ["name", "baseTotal", "total", "change", "relative", ...samples, ...file] : ["name", "self", "total", ...samples, ...file];
}

/** A column's heading. */
export function titleOfColumn(column: Column, rows: Rows): string {
  switch (column) {
    case "name": return "Function";
    case "self": return "Self";
    case "total": return rows.baseTotal ? "Comparison" : "Total";
    case "samples": return "Samples";
    case "baseTotal": return "Baseline";
    case "change": return "Change";
    case "relative": return "Change %";
    case "file": return "File";
  }
}

/** A text over a bar whose width is the share. */
function barCell(share: number, ...texts: HTMLElement[]): HTMLElement {
  const bar = h("span", { class: "flame-bar-share", "aria-hidden": "true" });

  bar.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return h("div", { role: "gridcell", class: "flame-cell flame-number" }, bar, ...texts.flatMap((each) => [each, " "]));
}

function withShare(value: number, whole: number, unit: string): HTMLElement {
  const share = whole > 0 ? value / whole : 0;

  return barCell(share, h("span", { class: "flame-amount" }, amount(value, unit)), h("span", { class: "flame-share" }, percent(share)));
}

/** A cell for one side. A comparison of shares shows shares instead of values. */
function sideCell({ rows: { comparison }, unit, whole, wholeBase }: CellSource, side: "base" | "now", value: number): HTMLElement {
  return comparison?.scale === "shares"
    ? barCell(value / comparison[side].total, h("span", { class: "flame-amount" }, sideText(comparison, side, value, unit)))
    : withShare(value, side === "base" ? wholeBase : whole, unit);
}

function changeCell({ rows, unit }: CellSource, column: "change" | "relative", id: number): HTMLElement {
  const total = rows.total[id]!;
  const base = rows.baseTotal![id]!;
  const comparison = rows.comparison!;

  if (isNoise(rows, id))
    return h("div", { role: "gridcell", class: "flame-cell flame-number flame-few", title: NOISE_HINT }, noiseText(comparison, total, base));
  return h("div", { role: "gridcell", class: `flame-cell flame-number ${total > base * comparison.factor ? "flame-more" : "flame-less"}` },
    column === "change" ? differenceText(comparison, total, base, unit) : growthText(comparison, total, base));
}

/** A path whose middle is cut if it is too long: the file name stays visible. */
function fileCell(functions: Functions, id: number): HTMLElement {
  const place = safeText(shortPlaceOf(functions, id));
  const name = place.lastIndexOf("/") + 1;

  return h("div", { role: "gridcell", class: "flame-cell flame-file" },
    h("span", { class: "flame-file-folder" }, place.slice(0, name)), h("span", { class: "flame-file-name" }, place.slice(name)));
}

function cellOf(source: CellSource, column: Column, id: number): HTMLElement {
  const { rows, unit, whole } = source;

  switch (column) {
    case "name":
      return h("div", { role: "gridcell", class: "flame-cell flame-name" }, safeText(source.functions.name[id]!, 300) || "(no name)");
    case "file": return fileCell(source.functions, id);
    case "self": return withShare(rows.self[id]!, whole, unit);
    case "total": return sideCell(source, "now", rows.total[id]!);
    case "baseTotal": return sideCell(source, "base", rows.baseTotal![id]!);
    case "change":
    case "relative": return changeCell(source, column, id);
    case "samples": {
      const samples = rows.samples?.[id] ?? null;
      const text = rows.baseTotal ? samplesPair(rows.baseSamples?.[id] ?? null, samples) : count(samples!);
      return fewOf(rows.baseSamples?.[id] ?? null, samples)
        ? h("div", { role: "gridcell", class: "flame-cell flame-number flame-few", title: "Fewer than 10 samples: unreliable" }, `${text} few`)
        : h("div", { role: "gridcell", class: "flame-cell flame-number" }, text);
    }
  }
}

export function cellsOf(source: CellSource, columns: readonly Column[], id: number): HTMLElement[] {
  return columns.map((column) => cellOf(source, column, id));
}
