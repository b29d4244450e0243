/** The stacks of one span name of a file. */
import { treeOfPair, type Tree } from "../model/tree.ts";
import type { WireFile, WireFileSide, WireFileSpan, WireTree } from "../model/wire.ts";

/** How a name stands in an address: "=NAME", "-" for what was in no span. */
export function keyOf(name: string | null): string {
  return name === null ? "-" : `=${name}`;
}

function spanIn(side: WireFileSide | null, key: string): WireFileSpan | undefined {
  return side?.spanNames.find((each) => keyOf(each.name) === key);
}

/** Are the stacks of a span there, on each side that has it? A side without them
 * would look as if it had nothing. */
export function hasStacksOf(now: WireFileSpan | undefined, base: WireFileSpan | undefined): boolean {
  return (now ?? base) !== undefined && [now, base].every((each) => each?.nodes !== undefined || each === undefined);
}

/** The span that an address names; undefined: none, or none whose stacks are there. */
export function spanOf(file: WireFile, key: string | undefined): string | undefined {
  return key !== undefined && hasStacksOf(spanIn(file.now, key), spanIn(file.base, key)) ? key : undefined;
}

/** The tree's nodes that the span has time in or below, and no others. */
export function sideOfSpan(side: WireFileSide, key: string): WireTree {
  const { parent, function: functions } = side.tree.nodes;
  const own = new Float64Array(parent.length);
  const kept = new Uint8Array(parent.length);
  const number = new Uint32Array(parent.length);
  const nodes: WireTree["nodes"] = { parent: [0], function: [-1], self: [0] };
  const cells = spanIn(side, key)?.nodes;

  cells?.node.forEach((node, index) => {
    own[node]! += cells.self[index]!;
    kept[node] = 1;
  });
  for (let node = parent.length - 1; node > 0; node--)
    if (kept[node] === 1)
      kept[parent[node]!] = 1;
  nodes.self[0] = own[0] ?? 0;
  for (let node = 1; node < parent.length; node++) {
    if (kept[node] === 0)
      continue;
    number[node] = nodes.parent.push(number[parent[node]!]!) - 1;
    nodes.function.push(functions[node]!);
    nodes.self.push(own[node]!);
  }
  return { ...side.tree, nodes };
}

export function pairOfSpan(base: WireFileSide, now: WireFileSide, key: string): Tree {
  return treeOfPair(sideOfSpan(base, key), sideOfSpan(now, key));
}
