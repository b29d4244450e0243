/** Merged stacks in columns: a node is an index, and comes after its parent.
 * Node 0 is the root, which has no function. */
import type { WireDiff, WireTree } from "./wire.ts";

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
  /** Of functions; -1: the root's. */
  readonly functionOf: Int32Array;
  /** Own values. In a comparison the right side's (what is new); else all. */
  readonly self: Float64Array;
  /** The left side's own values (what it is compared with), else null. */
  readonly baseSelf: Float64Array | null;
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
  };
}

export function treeOfDiff(wire: WireDiff): Tree {
  return {
    type: wire.type,
    unit: wire.unit,
    functions: wire.functions,
    parent: Uint32Array.from(wire.nodes.parent),
    functionOf: Int32Array.from(wire.nodes.function),
    self: Float64Array.from(wire.nodes.right),
    baseSelf: Float64Array.from(wire.nodes.left),
  };
}

/** Own values and those of all descendants, exact as long as sums are below
 * 2^53 (104 days of CPU time in nanoseconds). */
export function totalsOf(parent: Uint32Array, self: Float64Array): Float64Array {
  const totals = self.slice();

  for (let node = totals.length - 1; node > 0; node--)
    totals[parent[node]!]! += totals[node]!;
  return totals;
}
