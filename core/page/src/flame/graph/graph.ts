/** The layout of a tree: nodes by level, each level from left to right. A binary
 * search finds the visible nodes of a level without touching the others. */
import { totalsOf, type Functions, type Tree } from "../../model/tree.ts";

export type Order = "value" | "name";

/** Columns by index in the order of levels, which is not the order of the tree's nodes. */
export interface Graph {
  readonly tree: Tree;
  readonly order: Order;
  /** The tree's node at each index. */
  readonly node: Uint32Array;
  readonly parent: Uint32Array;
  readonly functionOf: Int32Array;
  /** The children of i are firstChild[i] … firstChild[i + 1] - 1. */
  readonly firstChild: Uint32Array;
  /** The nodes of level l are levelStart[l] … levelStart[l + 1] - 1. */
  readonly levelStart: Uint32Array;
  /** The left edge and the width of each node, in the tree's unit. In a comparison
   * the width is the sum of both scaled sides, so that removed nodes are visible. */
  readonly x: Float64Array;
  readonly width: Float64Array;
  readonly self: Float64Array;
  readonly total: Float64Array;
  readonly baseSelf: Float64Array | null;
  readonly baseTotal: Float64Array | null;
  readonly samples: Float64Array | null;
  readonly baseSamples: Float64Array | null;
}

/** The position of each function in alphabetical order. */
function ranksOf(functions: Functions): Uint32Array {
  const { name, file } = functions;
  const ids = name.map((_, id) => id);
  const ranks = new Uint32Array(ids.length);

  ids.sort((a, b) => {
    if (name[a] !== name[b])
      return name[a]! < name[b]! ? -1 : 1;
    return file[a] === file[b] ? a - b : file[a]! < file[b]! ? -1 : 1;
  });
  ids.forEach((id, rank) => { ranks[id] = rank; });
  return ranks;
}

/** The children of each node i: child[start[i]] … child[start[i + 1] - 1]. */
function childrenOf(parent: Uint32Array): { start: Uint32Array; child: Uint32Array } {
  const size = parent.length;
  const start = new Uint32Array(size + 2);
  const child = new Uint32Array(Math.max(0, size - 1));

  for (let node = 1; node < size; node++)
    start[parent[node]! + 2]!++;
  for (let node = 2; node < size + 2; node++)
    start[node]! += start[node - 1]!;
  // The loop increments start[p + 1] from the first child of p to the first child of p
  // + 1.
  for (let node = 1; node < size; node++)
    child[start[parent[node]! + 1]!++] = node;
  return { start, child };
}

function gathered(column: Float64Array, node: Uint32Array): Float64Array {
  const found = new Float64Array(node.length);

  for (let index = 0; index < node.length; index++)
    found[index] = column[node[index]!]!;
  return found;
}

function functionsOfNodes(tree: Tree, node: Uint32Array): Int32Array {
  const found = new Int32Array(node.length);

  for (let index = 0; index < node.length; index++)
    found[index] = tree.functionOf[node[index]!]!;
  return found;
}

/** For more children the sort of typed arrays is faster than insertion sort. */
const INSERTION_MAX = 16;

function sortChildren(children: Uint32Array, compare: (a: number, b: number) => number): void {
  if (children.length > INSERTION_MAX) {
    children.sort(compare);
    return;
  }
  for (let end = 1; end < children.length; end++) {
    const child = children[end]!;
    let at = end;
    for (; at > 0 && compare(children[at - 1]!, child) > 0; at--)
      children[at] = children[at - 1]!;
    children[at] = child;
  }
}

interface Levels {
  node: Uint32Array;
  parent: Uint32Array;
  firstChild: Uint32Array;
  levelStart: Uint32Array;
}

function levelsOf(tree: Tree, compare: (a: number, b: number) => number): Levels {
  const size = tree.parent.length;
  const { start, child } = childrenOf(tree.parent);
  const node = new Uint32Array(size);
  const parent = new Uint32Array(size);
  const firstChild = new Uint32Array(size + 1);
  const levelStart = [0, 1];
  let filled = 1;

  for (let index = 0; index < size; index++) {
    if (index === levelStart[levelStart.length - 1])
      levelStart.push(filled);
    const from = start[node[index]!]!;
    const until = start[node[index]! + 1]!;
    if (until - from > 1)
      sortChildren(child.subarray(from, until), compare);
    firstChild[index] = filled;
    for (let at = from; at < until; at++) {
      parent[filled] = index;
      node[filled++] = child[at]!;
    }
  }
  firstChild[size] = size;
  return { node, parent, firstChild, levelStart: Uint32Array.from(levelStart) };
}

export function graphOf(tree: Tree, order: Order): Graph {
  const totals = totalsOf(tree.parent, tree.self);
  const baseTotals = tree.baseSelf && totalsOf(tree.parent, tree.baseSelf);
  const factor = tree.comparison?.factor ?? 1;
  const widths = baseTotals ? totals.map((total, node) => total + baseTotals[node]! * factor) : totals;
  const ranks = order === "name" ? ranksOf(tree.functions) : null;
  const levels = levelsOf(tree, ranks
    ? (a, b) => ranks[tree.functionOf[a]!]! - ranks[tree.functionOf[b]!]!
    : (a, b) => widths[b]! - widths[a]! || tree.functionOf[a]! - tree.functionOf[b]!);
  const { node, firstChild } = levels;
  const width = gathered(widths, node);
  const x = new Float64Array(node.length);

  for (let index = 0; index < node.length; index++) {
    let at = x[index]!;
    for (let child = firstChild[index]!; child < firstChild[index + 1]!; child++) {
      x[child] = at;
      at += width[child]!;
    }
  }
  return {
    tree, order, ...levels, x, width,
    functionOf: functionsOfNodes(tree, node),
    self: gathered(tree.self, node),
    total: baseTotals ? gathered(totals, node) : width,
    baseSelf: tree.baseSelf && gathered(tree.baseSelf, node),
    baseTotal: baseTotals && gathered(baseTotals, node),
    samples: tree.samples && gathered(totalsOf(tree.parent, tree.samples), node),
    baseSamples: tree.baseSamples && gathered(totalsOf(tree.parent, tree.baseSamples), node),
  };
}

export function levelCount(graph: Graph): number {
  return graph.levelStart.length - 1;
}

export function levelOf(graph: Graph, index: number): number {
  let low = 0;
  let high = levelCount(graph);

  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (graph.levelStart[middle]! <= index)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/** The first node of [low, high) that ends after `at`; `high` if there is none. */
function firstEndingAfter(graph: Graph, low: number, high: number, at: number): number {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (graph.x[middle]! + graph.width[middle]! > at)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/** The node at a position of a level; -1 if there is none. */
export function nodeAt(graph: Graph, level: number, at: number): number {
  if (level < 0 || level >= levelCount(graph))
    return -1;
  const end = graph.levelStart[level + 1]!;
  const found = firstEndingAfter(graph, graph.levelStart[level]!, end, at);

  return found < end && graph.x[found]! <= at ? found : -1;
}

/** Visible frames, in columns: their nodes, levels, left edges and widths in pixels. A
 * node of -1 represents a run of frames that are too narrow to be visible. */
export interface Visible {
  node: number[];
  level: number[];
  x: number[];
  width: number[];
}

const WIDTH_MIN_PX = 0.5;

export function visibleFrames(graph: Graph, zoom: number, widthPx: number, from: number, until: number): Visible {
  const found: Visible = { node: [], level: [], x: [], width: [] };
  const left = graph.x[zoom]!;
  const all = graph.width[zoom]!;
  const scale = widthPx / all;
  const last = Math.min(until, levelCount(graph));

  function put(node: number, level: number, start: number, end: number): void {
    found.node.push(node);
    found.level.push(level);
    found.x.push(start);
    found.width.push(end - start);
  }

  function putLevel(level: number): void {
    const end = graph.levelStart[level + 1]!;
    let index = firstEndingAfter(graph, graph.levelStart[level]!, end, left);
    let runStart = 0;
    let runEnd = -1;
    const endRun = (): void => {
      if (runEnd >= 0)
        put(-1, level, runStart, runEnd);
      runEnd = -1;
    };
    while (index < end && graph.x[index]! < left + all) {
      const start = Math.max(0, (graph.x[index]! - left) * scale);
      const stop = Math.min(widthPx, (graph.x[index]! + graph.width[index]! - left) * scale);
      if (stop - start >= WIDTH_MIN_PX) {
        endRun();
        put(index++, level, start, stop);
        continue;
      }
      if (runEnd >= 0 && start - runEnd > 1)
        endRun();
      if (runEnd < 0)
        runStart = start;
      runEnd = Math.max(stop, start + WIDTH_MIN_PX);
      index = firstEndingAfter(graph, index + 1, end, left + runEnd / scale);
    }
    endRun();
  }

  if (all > 0)
    for (let level = Math.max(0, from); level < last; level++)
      putLevel(level);
  return found;
}
