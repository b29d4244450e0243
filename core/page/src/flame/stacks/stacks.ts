/** Transformations of trees for the tools of a flame graph. A `mask` has a non-zero
 * entry for each selected function. */
import { totalsOf, type Tree } from "../../model/tree.ts";
import { TreeBuilder } from "../../model/tree_builder.ts";

function builderOf(tree: Tree): TreeBuilder {
  const has = { base: tree.baseSelf !== null, samples: tree.samples !== null, baseSamples: tree.baseSamples !== null };

  return new TreeBuilder(has, tree.parent.length);
}

function move(tree: Tree, node: number, builder: TreeBuilder, to: number): void {
  builder.add(to, tree.self[node]!, tree.baseSelf?.[node] ?? 0, tree.samples?.[node] ?? 0, tree.baseSamples?.[node] ?? 0);
}

/** Keeps only stacks that contain a frame of the mask. */
export function focused(tree: Tree, mask: Uint8Array): Tree {
  const { parent, functionOf } = tree;
  const size = parent.length;
  const inside = new Uint8Array(size);
  const included = new Uint8Array(size);

  for (let node = 1; node < size; node++)
    inside[node] = inside[parent[node]!]! | mask[functionOf[node]!]!;
  for (let node = size - 1; node > 0; node--) {
    included[node]! |= inside[node]!;
    included[parent[node]!]! |= included[node]!;
  }
  const builder = builderOf(tree);
  const target = new Uint32Array(size);
  for (let node = 1; node < size; node++)
    if (included[node]) {
      target[node] = builder.child(target[parent[node]!]!, functionOf[node]!);
      if (inside[node])
        move(tree, node, builder, target[node]!);
    }
  return { ...tree, ...builder.columns() };
}

/** Removes the frames of the mask. Their callees become callees of their callers,
 * and their self values become self values of their callers. */
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

/** Collapses recursive calls into one frame. "direct": only calls of a function by
 * itself. "all": a stack continues at the function's first frame, so that each function
 * occurs once and the frames in between are not repeated below. */
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

/** The callees of the functions of the mask, below their outermost frame in each
 * stack. The root represents these functions. */
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

/** The callers of the functions of the mask, above their outermost frame in each
 * stack. The root represents these functions, and a child is a caller. A node's total
 * is the value of the functions when called through this path. Self values are at the
 * outermost callers. */
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
