/** Trees made of a tree: what the tools of a flame graph show. A `mask` has a
 * non-zero entry for each function that is meant. */
import { totalsOf, type Tree } from "../model/tree.ts";
import { TreeBuilder } from "../model/tree_builder.ts";

function builderOf(tree: Tree): TreeBuilder {
  const has = { base: tree.baseSelf !== null, samples: tree.samples !== null, baseSamples: tree.baseSamples !== null };

  return new TreeBuilder(has, tree.parent.length);
}

function move(tree: Tree, node: number, builder: TreeBuilder, to: number): void {
  builder.add(to, tree.self[node]!, tree.baseSelf?.[node] ?? 0, tree.samples?.[node] ?? 0, tree.baseSamples?.[node] ?? 0);
}

/** Only stacks that go through a frame of the mask. */
export function focused(tree: Tree, mask: Uint8Array): Tree {
  const { parent, functionOf } = tree;
  const size = parent.length;
  const inside = new Uint8Array(size);
  const kept = new Uint8Array(size);

  for (let node = 1; node < size; node++)
    inside[node] = inside[parent[node]!]! | mask[functionOf[node]!]!;
  for (let node = size - 1; node > 0; node--) {
    kept[node]! |= inside[node]!;
    kept[parent[node]!]! |= kept[node]!;
  }
  const builder = builderOf(tree);
  const target = new Uint32Array(size);
  for (let node = 1; node < size; node++)
    if (kept[node]) {
      target[node] = builder.child(target[parent[node]!]!, functionOf[node]!);
      if (inside[node])
        move(tree, node, builder, target[node]!);
    }
  return { ...tree, ...builder.columns() };
}

/** Without frames of the mask: what they called is called by their callers, and
 * what they did themselves is their callers' own. */
export function hidden(tree: Tree, mask: Uint8Array): Tree {
  const builder = builderOf(tree);
  const target = new Uint32Array(tree.parent.length);

  move(tree, 0, builder, 0);
  for (let node = 1; node < target.length; node++) {
    const above = target[tree.parent[node]!]!;
    const functionId = tree.functionOf[node]!;
    target[node] = mask[functionId] ? above : builder.child(above, functionId);
    move(tree, node, builder, target[node]!);
  }
  return { ...tree, ...builder.columns() };
}

/** Recursion as one frame. "direct": a function that calls itself. "all": a
 * stack goes back to where the function was first, so that each is in it once
 * and what lay between is left out of what follows. */
export function collapsed(tree: Tree, which: "direct" | "all"): Tree {
  const builder = builderOf(tree);
  const target = new Uint32Array(tree.parent.length);

  function earlier(above: number, functionId: number): number {
    for (let node = above; node > 0; node = which === "all" ? builder.parentOf(node) : 0)
      if (builder.functionAt(node) === functionId)
        return node;
    return 0;
  }

  move(tree, 0, builder, 0);
  for (let node = 1; node < target.length; node++) {
    const above = target[tree.parent[node]!]!;
    const functionId = tree.functionOf[node]!;
    target[node] = earlier(above, functionId) || builder.child(above, functionId);
    move(tree, node, builder, target[node]!);
  }
  return { ...tree, ...builder.columns() };
}

/** What functions of the mask call, from their outermost frame in each stack:
 * the root stands for them. */
export function calleesOf(tree: Tree, mask: Uint8Array): Tree {
  const builder = builderOf(tree);
  const outside = 0xffffffff;
  const target = new Uint32Array(tree.parent.length).fill(outside);

  for (let node = 1; node < target.length; node++) {
    const above = target[tree.parent[node]!]!;
    const functionId = tree.functionOf[node]!;
    if (above !== outside)
      target[node] = builder.child(above, functionId);
    else if (mask[functionId])
      target[node] = 0;
    if (target[node] !== outside)
      move(tree, node, builder, target[node]!);
  }
  return { ...tree, ...builder.columns() };
}

/** Who calls functions of the mask, from their outermost frame in each stack
 * outwards: the root stands for them, a child is a caller. The total of a node
 * is what these callers spent in them; own values lie at outermost callers. */
export function callersOf(tree: Tree, mask: Uint8Array): Tree {
  const { parent, functionOf } = tree;
  const totals = totalsOf(parent, tree.self);
  const baseTotals = tree.baseSelf && totalsOf(parent, tree.baseSelf);
  const sampleTotals = tree.samples && totalsOf(parent, tree.samples);
  const baseSampleTotals = tree.baseSamples && totalsOf(parent, tree.baseSamples);
  const inside = new Uint8Array(parent.length);
  const builder = builderOf(tree);

  for (let node = 1; node < parent.length; node++) {
    const isIn = inside[parent[node]!]!;
    const isMeant = mask[functionOf[node]!]!;
    inside[node] = isIn | isMeant;
    if (!isMeant || isIn)
      continue;
    let caller = 0;
    for (let above = parent[node]!; above > 0; above = parent[above]!)
      caller = builder.child(caller, functionOf[above]!);
    builder.add(caller, totals[node]!, baseTotals?.[node] ?? 0, sampleTotals?.[node] ?? 0, baseSampleTotals?.[node] ?? 0);
  }
  return { ...tree, ...builder.columns() };
}
