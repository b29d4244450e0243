/** Random stacks, and sums over them by a simple algorithm. The tests of the flame
 * graph compare its sums with these. */
import { comparisonOf, type Functions, type Tree } from "../src/model/tree.ts";
import { TreeBuilder } from "../src/model/tree_builder.ts";

export interface Stack {
  /** Function ids, outermost first. */
  frames: number[];
  value: number;
  base: number;
}

/** The generator of Numerical Recipes. A seed always gives the same numbers. */
export function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0;

  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Random stacks of few functions, so that they contain all kinds of recursion. */
export function randomStacks(seed: number, count: number, functions: number, depth: number): Stack[] {
  const random = randomOf(seed);

  return Array.from({ length: count }, () => ({
    frames: Array.from({ length: random(depth) }, () => random(functions)),
    value: random(4) === 0 ? 0 : random(1000),
    base: random(3) === 0 ? 0 : random(1000),
  }));
}

export function functionsOf(count: number): Functions {
  const each = Array.from({ length: count }, (_, id) => id);

  return {
    name: each.map((id) => `${String.fromCharCode(97 + (id * 7) % 26)}${id}`),
    file: each.map((id) => `/app/${id % 3}.rb`),
    line: each,
  };
}

export function treeOfStacks(stacks: readonly Stack[], functions: Functions, isDiff = false): Tree {
  const builder = new TreeBuilder({ base: isDiff, samples: true, baseSamples: false }, 4);

  for (const { frames, value, base } of stacks) {
    let node = 0;
    for (const functionId of frames)
      node = builder.child(node, functionId);
    builder.add(node, value, base, 1, 0);
  }
  const columns = builder.columns();
  return { type: "cpu", unit: "nanoseconds", functions, ...columns, comparison: isDiff ? comparisonOf(columns) : null, merged: 0 };
}

/** The values of a tree by path, without empty nodes. */
export function pathsOf(tree: Tree): Map<string, string> {
  const paths: string[] = [""];
  const found = new Map<string, string>();

  tree.self.forEach((value, node) => {
    if (node > 0)
      paths[node] = `${paths[tree.parent[node]!]!}/${tree.functionOf[node]!}`;
    const base = tree.baseSelf?.[node] ?? 0;
    if (value !== 0 || base !== 0)
      found.set(paths[node]!, `${value} ${base}`);
  });
  return found;
}

/** The values of stacks by path, like pathsOf(). */
export function pathsOfStacks(stacks: readonly Stack[], isDiff = false): Map<string, string> {
  const sums = new Map<string, [number, number]>();

  for (const { frames, value, base } of stacks) {
    const path = frames.map((id) => `/${id}`).join("");
    const [valueBefore, baseBefore] = sums.get(path) ?? [0, 0];
    sums.set(path, [valueBefore + value, baseBefore + (isDiff ? base : 0)]);
  }
  return new Map([...sums].filter(([, [value, base]]) => value !== 0 || base !== 0).map(([path, sum]) => [path, sum.join(" ")]));
}

export function maskOfIds(functions: Functions, ids: readonly number[]): Uint8Array {
  const mask = new Uint8Array(functions.name.length);

  for (const id of ids)
    mask[id] = 1;
  return mask;
}
