/** A tree of merged stacks, stored in columns. A node is an index; a parent comes
 * before its children. Node 0 is the root, which has no function. */
import { Comparison, type Sums } from "./comparison.ts";
import type { WireDiff, WireTree } from "./wire.ts";
import { TreeBuilder } from "./tree_builder.ts";

export interface Functions {
  readonly name: readonly string[];
  readonly file: readonly string[];
  readonly line: readonly number[];
}

export interface Tree {
  readonly type: string;
  readonly unit: string;
  readonly functions: Functions;
  readonly parent: Uint32Array;
  /** The function of each node; -1 for the root. */
  readonly functionOf: Int32Array;
  /** Self values. In a comparison, those of the new (right) side. */
  readonly self: Float64Array;
  /** Self values of the baseline (left) side; null without a comparison. */
  readonly baseSelf: Float64Array | null;
  /** Number of samples in each self value; null if not known. */
  readonly samples: Float64Array | null;
  /** Number of samples in each `baseSelf` value; null if not known or without a comparison. */
  readonly baseSamples: Float64Array | null;
  /** The comparison of the two sides before filtering; null if there is only one
   * side. */
  readonly comparison: Comparison | null;
  /** The number of small nodes that were merged into nodes "(other)". */
  readonly merged: number;
}

function sumOf(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function sumsOf(values: Float64Array, samples: Float64Array | null): Sums {
  return { total: sumOf(values), samples: samples && sumOf(samples) };
}

/** The comparison of columns that have a baseline. */
export function comparisonOf(columns: Pick<Tree, "self" | "baseSelf" | "samples" | "baseSamples">): Comparison {
  return new Comparison(sumsOf(columns.baseSelf!, columns.baseSamples), sumsOf(columns.self, columns.samples));
}

function columnOf(values: readonly number[] | undefined): Float64Array | null {
  return values ? Float64Array.from(values) : null;
}

export function treeOf(wire: WireTree): Tree {
  return {
    type: wire.type,
    unit: wire.unit,
    functions: wire.functions,
    parent: Uint32Array.from(wire.nodes.parent),
    functionOf: Int32Array.from(wire.nodes.function),
    self: Float64Array.from(wire.nodes.self),
    baseSelf: null,
    samples: columnOf(wire.nodes.samples),
    baseSamples: null,
    comparison: null,
    merged: wire.merged ?? 0,
  };
}

export function treeOfDiff(wire: WireDiff): Tree {
  const columns = {
    parent: Uint32Array.from(wire.nodes.parent),
    functionOf: Int32Array.from(wire.nodes.function),
    self: Float64Array.from(wire.nodes.right),
    baseSelf: Float64Array.from(wire.nodes.left),
    samples: columnOf(wire.nodes.rightSamples),
    baseSamples: columnOf(wire.nodes.leftSamples),
  };

  return { type: wire.type, unit: wire.unit, functions: wire.functions, ...columns, comparison: comparisonOf(columns), merged: wire.merged ?? 0 };
}

/** Merges two trees into a comparison. Functions with equal name and file are the same. */
export function treeOfPair(base: WireTree, wire: WireTree): Tree {
  const functions = { name: [] as string[], file: [] as string[], line: [] as number[] };
  const known = new Map<string, number>();
  const builder = new TreeBuilder({ base: true, samples: wire.nodes.samples !== undefined, baseSamples: base.nodes.samples !== undefined });

  function merge(each: WireTree, isBase: boolean): void {
    const { name, file, line } = each.functions;
    const id = name.map((text, index) => {
      const key = `${text}\0${file[index]!}`;
      let found = known.get(key);
      if (found === undefined) {
        found = functions.name.push(text) - 1;
        functions.file.push(file[index]!);
        functions.line.push(line[index]!);
        known.set(key, found);
      }
      return found;
    });
    const target = new Uint32Array(each.nodes.parent.length);
    each.nodes.self.forEach((value, node) => {
      if (node > 0)
        target[node] = builder.child(target[each.nodes.parent[node]!]!, id[each.nodes.function[node]!]!);
      const samples = each.nodes.samples?.[node] ?? 0;
      builder.add(target[node]!, isBase ? 0 : value, isBase ? value : 0, isBase ? 0 : samples, isBase ? samples : 0);
    });
  }

  merge(base, true);
  merge(wire, false);
  const columns = builder.columns();
  return { type: wire.type, unit: wire.unit, functions, ...columns, comparison: comparisonOf(columns), merged: (base.merged ?? 0) + (wire.merged ?? 0) };
}

/** The functions of the stack that ends at `node`, outermost first. */
export function pathOf(tree: Tree, node: number): number[] {
  const path: number[] = [];

  for (let at = node; at > 0; at = tree.parent[at]!)
    path.push(tree.functionOf[at]!);
  return path.reverse();
}

/** Total values: each node's self value plus those of its descendants. Sums are
 * exact up to 2^53 (104 days of CPU time in nanoseconds). */
export function totalsOf(parent: Uint32Array, self: Float64Array): Float64Array {
  const totals = self.slice();

  for (let node = totals.length - 1; node > 0; node--)
    totals[parent[node]!]! += totals[node]!;
  return totals;
}
