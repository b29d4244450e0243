/** Self and total values of each function, summed over all nodes. */
import type { Comparison } from "../../model/comparison.ts";
import type { Graph } from "../graph/graph.ts";

/** Columns by function. `ids` lists the functions that occur. */
export interface Rows {
  readonly ids: Uint32Array;
  readonly self: Float64Array;
  /** Recursive calls count once. */
  readonly total: Float64Array;
  readonly baseSelf: Float64Array | null;
  readonly baseTotal: Float64Array | null;
  /** Number of samples in the total. */
  readonly samples: Float64Array | null;
  readonly baseSamples: Float64Array | null;
  readonly comparison: Comparison | null;
}

/** Calls `enter` for each node, depth first. `isOutermost` means that no ancestor has
 * the same function. */
function walk(graph: Graph, enter: (index: number, functionId: number, isOutermost: boolean) => void): void {
  const { firstChild, functionOf, parent } = graph;
  const next = firstChild.slice();
  const onPath = new Uint32Array(graph.tree.functions.name.length);
  let index = 0;

  for (;;) {
    const child = next[index]!;
    if (child < firstChild[index + 1]!) {
      next[index] = child + 1;
      const functionId = functionOf[child]!;
      enter(child, functionId, onPath[functionId]!++ === 0);
      index = child;
    } else {
      if (index === 0)
        return;
      onPath[functionOf[index]!]!--;
      index = parent[index]!;
    }
  }
}

export function rowsOf(graph: Graph): Rows {
  const size = graph.tree.functions.name.length;
  const seen = new Uint8Array(size);
  const self = new Float64Array(size);
  const total = new Float64Array(size);
  const baseSelf = graph.baseSelf && new Float64Array(size);
  const baseTotal = graph.baseTotal && new Float64Array(size);
  const samples = graph.samples && new Float64Array(size);
  const baseSamples = graph.baseSamples && new Float64Array(size);

  walk(graph, (index, id, isOutermost) => {
    seen[id] = 1;
    self[id]! += graph.self[index]!;
    if (baseSelf)
      baseSelf[id]! += graph.baseSelf[index]!;
    if (!isOutermost)
      return;
    total[id]! += graph.total[index]!;
    if (baseTotal)
      baseTotal[id]! += graph.baseTotal[index]!;
    if (samples)
      samples[id]! += graph.samples[index]!;
    if (baseSamples)
      baseSamples[id]! += graph.baseSamples[index]!;
  });
  const ids: number[] = [];
  seen.forEach((isSeen, id) => {
    if (isSeen)
      ids.push(id);
  });
  return { ids: Uint32Array.from(ids), self: self, total, baseSelf: baseSelf, baseTotal, samples, baseSamples, comparison: graph.tree.comparison };
}

export const COLUMNS = ["name", "self", "total", "samples", "baseTotal", "change", "relative", "file"] as const;
export type Column = (typeof COLUMNS)[number];
type TextColumn = "name" | "file";

export function isText(column: Column): column is TextColumn {
  return column === "name" || column === "file";
}

/** Whether the difference between a function's two totals is within sampling noise. */
export function isNoise({ comparison, total, baseTotal, samples, baseSamples }: Rows, id: number): boolean {
  return comparison?.isNoise(total[id]!, baseTotal![id]!, samples && samples[id]!, baseSamples && baseSamples[id]!) ?? false;
}

/** The value of a numeric column. In a comparison "self" and "total" are those of the
 * new side, and a change within noise is 0. */
export function valueOf(rows: Rows, column: Exclude<Column, TextColumn>, id: number): number {
  const base = rows.baseTotal?.[id] ?? 0;
  const scaled = base * (rows.comparison?.factor ?? 1);

  switch (column) {
    case "self": return rows.self[id]!;
    case "total": return rows.total[id]!;
    case "samples": return (rows.samples?.[id] ?? 0) + (rows.baseSamples?.[id] ?? 0);
    case "baseTotal": return base;
    case "change": return isNoise(rows, id) ? 0 : rows.total[id]! - scaled;
    case "relative": return isNoise(rows, id) ? 0 : relativeOf(rows.total[id]!, scaled);
  }
}

/** Relative change: value / base - 1. Infinity if only the base is zero. */
export function relativeOf(value: number, base: number): number {
  return base === 0 ? (value === 0 ? 0 : Infinity) : (value - base) / base;
}

/** Sorts ids by a column. Changes are sorted by their absolute value. `texts` has the texts of
 * a column of text. */
export function sortedIds(rows: Rows, texts: readonly string[], column: Column, isAscending: boolean, ids: Uint32Array): Uint32Array {
  const sign = isAscending ? 1 : -1;

  if (isText(column))
    return ids.slice().sort((a, b) => sign * (texts[a]! < texts[b]! ? -1 : texts[a]! > texts[b]! ? 1 : a - b));
  const isChange = column === "change" || column === "relative";
  const keys = new Float64Array(rows.total.length);
  for (const id of ids) {
    const value = valueOf(rows, column, id);
    keys[id] = isChange ? Math.abs(value) : value;
  }
  // Infinity - Infinity is NaN, so equal keys are handled first.
  return ids.slice().sort((a, b) => (keys[a] === keys[b] ? 0 : sign * (keys[a]! - keys[b]!))
    || rows.total[b]! - rows.total[a]! || rows.self[b]! - rows.self[a]! || a - b);
}
