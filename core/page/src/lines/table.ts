/** The table of a function's lines. */
import { h } from "../parts/dom.ts";
import { amount, percent } from "../parts/format.ts";
import type { LineRow, LineValues } from "./values.ts";

/** A value with its share of all stacks, over a bar whose width is its share of the
 * largest value in the column. */
function valueCell(value: number, largest: number, { all, unit }: LineValues): HTMLElement {
  const bar = h("span", { class: "lines-bar", "aria-hidden": "true" });

  if (value === 0)
    return h("td", { class: "number" });
  bar.style.width = `calc(${Math.max(0, Math.min(1, value / largest))} * (100% - 8px))`;
  return h("td", { class: "number" }, bar, h("span", { class: "lines-value" }, amount(value, unit), " "),
    h("span", { class: "lines-value lines-share" }, percent(all > 0 ? value / all : 0)));
}

function largestOf(rows: readonly LineRow[], column: "self" | "total"): number {
  return rows.reduce((largest, row) => Math.max(largest, row[column]), 0);
}

export function lineTable(values: LineValues, label: string): HTMLElement {
  const { rows } = values;
  const [self, total] = [largestOf(rows, "self"), largestOf(rows, "total")];
  const head = ["Line", "Self", "Total"].map((text) => h("th", { scope: "col", class: "number" }, text));

  return h("div", { class: "table-of lines-table", tabindex: 0, role: "group", "aria-label": label },
    h("table", {}, h("thead", {}, h("tr", {}, ...head)),
      h("tbody", {}, ...rows.map((row) => h("tr", {}, h("th", { scope: "row", class: "number" }, row.line > 0 ? String(row.line) : "unknown"),
        valueCell(row.self, self, values), valueCell(row.total, total, values))))));
}
