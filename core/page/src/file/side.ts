/** The stacks of one span name in an exported page. */
import { treeOfPair, type Tree } from "../model/tree.ts";
import type { WireFile, WireFileSide, WireFileSpan, WireTree } from "../model/wire.ts";

/** The key of a name in an address: "=NAME", or "-" for samples outside of spans. */
export function keyOf(name: string | null): string {
  return name === null ? "-" : `=${name}`;
}

function spanIn(side: WireFileSide | null, key: string): WireFileSpan | undefined {
  return side?.spanNames.find((each) => keyOf(each.name) === key);
}

/** Whether the file has the stacks of a span on each side that has the span. Otherwise a
 * side without them would look empty. */
export function hasStacksOf(now: WireFileSpan | undefined, base: WireFileSpan | undefined): boolean {
  return (now ?? base) !== undefined && [now, base].every((each) => each?.nodes !== undefined || each === undefined);
}

/** The span name that an address selects; undefined if it selects none or its stacks are missing. */
export function spanOf(file: WireFile, key: string | undefined): string | undefined {
  return key !== undefined && hasStacksOf(spanIn(file.now, key), spanIn(file.base, key)) ? key : undefined;
}

/** A tree with only the span's stacks. */
export function sideOfSpan(side: WireFileSide, key: string): WireTree {
  const { parent, function: functions } = side.tree.nodes;
  const self = new Float64Array(parent.length);
  const isIncluded = new Uint8Array(parent.length);
  const number = new Uint32Array(parent.length);
  const nodes: WireTree["nodes"] = { parent: [0], function: [-1], self: [0] };
  const cells = spanIn(side, key)?.nodes;

  cells?.node.forEach((node, index) => {
    self[node]! += cells.self[index]!;
    isIncluded[node] = 1;
  });
  for (let node = parent.length - 1; node > 0; node--)
    if (isIncluded[node] === 1)
      isIncluded[parent[node]!] = 1;
  nodes.self[0] = self[0] ?? 0;
  for (let node = 1; node < parent.length; node++) {
    if (isIncluded[node] === 0)
      continue;
    number[node] = nodes.parent.push(number[parent[node]!]!) - 1;
    nodes.function.push(functions[node]!);
    nodes.self.push(self[node]!);
  }
  return { ...side.tree, nodes };
}

export function pairOfSpan(base: WireFileSide, now: WireFileSide, key: string): Tree {
  return treeOfPair(sideOfSpan(base, key), sideOfSpan(now, key));
}
