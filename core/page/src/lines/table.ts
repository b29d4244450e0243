/** The table of a function's lines. */
import { h, safeText } from "../parts/dom.ts";
import { amount, count, percent } from "../parts/format.ts";
import type { LineRow, LineValues } from "./values.ts";

/** Lines without values are shown if they are at most this far from a line with a value. */
const AROUND = 4;
const TEXT_MAX = 1000;

interface ShownLine {
  readonly line: number;
  /** null: the line has no values. */
  readonly row: LineRow | null;
  /** null: the text is not known. */
  readonly text: string | null;
  /** Number of lines that are not shown between the previous shown line and this line. */
  readonly skipped: number;
}

/** The lines with values, and the lines around them whose text is known. */
export function shownLines({ rows, source }: LineValues): ShownLine[] {
  const byLine = new Map<number, LineRow | null>(rows.map((row) => [row.line, row]));
  const [first, texts] = source ? [source.firstLine, source.lines] : [1, []];
  const addAround = (line: number): void => {
    for (let each = Math.max(first, line - AROUND); each <= Math.min(first + texts.length - 1, line + AROUND); each++)
      byLine.set(each, byLine.get(each) ?? null);
  };
  let before = 0;

  // The text begins just before the head of the function.
  for (const line of [first, ...rows.map((row) => row.line)])
    if (line > 0)
      addAround(line);
  return [...byLine].sort(([one], [other]) => one - other).map(([line, row]) => {
    const skipped = source && before > 0 ? line - before - 1 : 0;

    before = line;
    return { line, row, text: texts[line - first] ?? null, skipped };
  });
}

/** Returns a cell with a value and its share of all stacks. A bar behind them shows the ratio
 * of the value to the largest value in the column. */
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
  const [self, total] = [largestOf(values.rows, "self"), largestOf(values.rows, "total")];
  const head = ["Line", "Self", "Total"].map((text) => h("th", { scope: "col", class: "number" }, text));
  const hasText = Boolean(values.source);

  return h("div", { class: "table-of lines-table", tabindex: 0, role: "group", "aria-label": label },
    h("table", {}, h("thead", {}, h("tr", {}, ...head, hasText && h("th", { scope: "col" }, "Text"))),
      h("tbody", {}, ...shownLines(values).flatMap(({ line, row, text, skipped }) => [
        ...skipped > 0 ? [h("tr", { class: "lines-gap" }, h("td", { colspan: 4 }, `${count(skipped)} ${skipped === 1 ? "line" : "lines"} without samples`))] : [],
        h("tr", {}, h("th", { scope: "row", class: "number" }, line > 0 ? String(line) : "unknown"),
          valueCell(row?.self ?? 0, self, values), valueCell(row?.total ?? 0, total, values),
          hasText && h("td", { class: "lines-text" }, h("code", {}, safeText((text ?? "").replaceAll("\t", "    "), TEXT_MAX)))),
      ]))));
}
