/** Writes the table of functions as comma-separated values (RFC 4180). Lines that begin
 * with "#" before the header have title, query, range and link. */
import { graphOf } from "../flame/graph/graph.ts";
import { rowsOf, sortedIds } from "../flame/table/rows.ts";
import type { Tree } from "../model/tree.ts";
import { commentsOf, type Origin } from "./origin.ts";

/** A quoted cell. Spreadsheets execute a text that begins with one of = + - @ as a
 * formula, so such a text gets an apostrophe, which spreadsheets do not show. */
function cell(text: string): string {
  return `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}

/** The functions with the largest totals come first. */
export function csvOf(tree: Tree, title: string, origin: Pick<Origin, "lines" | "link">): string {
  const rows = rowsOf(graphOf(tree, "value"));
  const { name, file, line } = tree.functions;
  const columns: (readonly [name: string, values: Float64Array | null])[] = [
    [`self (${tree.unit})`, rows.self], [`total (${tree.unit})`, rows.total], ["samples", rows.samples],
    [`baseline self (${tree.unit})`, rows.baseSelf], [`baseline total (${tree.unit})`, rows.baseTotal], ["baseline samples", rows.baseSamples],
  ];
  const given = columns.filter((column): column is readonly [string, Float64Array] => column[1] !== null);
  const lines = [["function", "file", "line", ...given.map(([each]) => each)].map(cell).join(",")];

  for (const id of sortedIds(rows, name, "total", false, rows.ids))
    lines.push([cell(name[id]!), cell(file[id]!), line[id]! > 0 ? String(line[id]) : "", ...given.map(([, values]) => String(values[id]))].join(","));
  return `${commentsOf(title, origin)}${lines.join("\r\n")}\r\n`;
}
