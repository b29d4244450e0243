/** The values of each function on both sides of a comparison. */
import { totalsOf, type Tree } from "../model/tree.ts";

/** A function's values, summed over all nodes. In totals, recursive calls count once. */
export interface Change {
  name: string;
  file: string;
  baseSelf: number;
  self: number;
  baseTotal: number;
  total: number;
  /** Number of samples in each value; null if not known. */
  samples: { baseSelf: number | null; self: number | null; baseTotal: number | null; total: number | null };
}

/** Whether an ancestor of a node has the same function. Totals count only outermost
 * nodes. The order of nodes need not be depth-first, so each node checks its
 * ancestors. */
function isInner(tree: Tree, node: number): boolean {
  const { functionOf, parent } = tree;

  for (let above = parent[node]!; above > 0; above = parent[above]!)
    if (functionOf[above] === functionOf[node])
      return true;
  return false;
}

function added(sum: number | null, values: Float64Array | null, node: number): number | null {
  return sum === null || !values ? sum : sum + values[node]!;
}

export function changesOf(tree: Tree): Change[] {
  const { functions, functionOf, parent, self } = tree;
  const baseSelf = tree.baseSelf ?? new Float64Array(self.length);
  const totals = totalsOf(parent, self), baseTotals = totalsOf(parent, baseSelf);
  const [now, base] = [tree.samples ? 0 : null, tree.baseSamples ? 0 : null];
  const none: Change["samples"] = { baseSelf: base, self: now, baseTotal: base, total: now };
  const changes = functions.name.map((name, at): Change =>
    ({ name, file: functions.file[at] ?? "", baseSelf: 0, self: 0, baseTotal: 0, total: 0, samples: { ...none } }));
  const counts = tree.samples && totalsOf(parent, tree.samples), baseCounts = tree.baseSamples && totalsOf(parent, tree.baseSamples);

  for (let node = 1; node < self.length; node++) {
    const change = changes[functionOf[node]!]!;

    change.self += self[node]!;
    change.baseSelf += baseSelf[node]!;
    change.samples.self = added(change.samples.self, tree.samples, node);
    change.samples.baseSelf = added(change.samples.baseSelf, tree.baseSamples, node);
    if (!isInner(tree, node)) {
      change.samples.total = added(change.samples.total, counts, node);
      change.samples.baseTotal = added(change.samples.baseTotal, baseCounts, node);
      change.total += totals[node]!;
      change.baseTotal += baseTotals[node]!;
    }
  }
  return changes;
}
