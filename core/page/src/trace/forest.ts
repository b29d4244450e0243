/** Builds the trees of a trace. Traces may be malformed: parents may be missing, clocks
 * of hosts may differ, ids may repeat, and a span may be its own ancestor. */
import type { WireTraceSpan } from "../model/wire.ts";

export interface Branch {
  span: WireTraceSpan;
  depth: number;
  /** Index of the parent in `branches`; -1 for a root. */
  parent: number;
  /** Number of descendants, which directly follow the branch. */
  descendants: number;
  /** Start of the drawn bar, in nanoseconds since the start of the trace. */
  beginNs: number;
  /** Nanoseconds from the recorded start to the drawn start, if the clock of the span's
   * host is behind the parent's, else 0. */
  shiftedNs: number;
  /** Whether the parent is missing from the trace. */
  orphan: boolean;
}

export interface Forest {
  /** The spans in depth-first order. Siblings are sorted by start. */
  branches: Branch[];
  lengthNs: number;
  /** Sum of all spans' self values. */
  self: number;
  samples: number;
  orphans: number;
  shifted: number;
}

interface Links {
  parent: Int32Array;
  children: number[][];
  roots: number[];
}

function linksOf(spans: readonly WireTraceSpan[]): Links {
  const byId = new Map<string, number>();
  const parent = new Int32Array(spans.length).fill(-1);
  const children: number[][] = spans.map(() => []);
  const roots: number[] = [];

  spans.forEach((span, index) => {
    if (!byId.has(span.spanId))
      byId.set(span.spanId, index);
  });
  spans.forEach((span, index) => {
    const found = span.parentId === null ? undefined : byId.get(span.parentId);

    if (found === undefined || found === index) {
      roots.push(index);
    } else {
      parent[index] = found;
      children[found]!.push(index);
    }
  });
  return { parent, children, roots };
}

/** Spans that no root reaches form cycles. Makes the first listed span of each cycle a root. */
function breakCycles(spans: readonly WireTraceSpan[], links: Links): void {
  const reached = new Uint8Array(spans.length);
  const reach = (from: number): void => {
    const stack = [from];

    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      if (reached[at])
        continue;
      reached[at] = 1;
      for (const child of links.children[at]!)
        stack.push(child);
    }
  };

  for (const root of links.roots)
    reach(root);
  spans.forEach((_, index) => {
    if (reached[index])
      return;
    const siblings = links.children[links.parent[index]!]!;
    siblings.splice(siblings.indexOf(index), 1);
    links.parent[index] = -1;
    links.roots.push(index);
    reach(index);
  });
}

/** Returns by how much a child that was recorded before its parent is moved, since the
 * clocks of their hosts differ. The child is moved to the middle of its parent or, if
 * it is longer than the parent, to the start of the parent. */
function shiftOf(span: WireTraceSpan, beginNs: number, parent: Branch | undefined): number {
  if (!parent || beginNs >= parent.beginNs)
    return 0;
  const spare = parent.span.durationNs - span.durationNs;

  return parent.beginNs - beginNs + Math.max(0, Math.floor(spare / 2));
}

/** `asRecorded` draws spans at their recorded times, even before their parents. */
export function forestOf(spans: readonly WireTraceSpan[], asRecorded = false): Forest {
  const links = linksOf(spans);
  const branches: Branch[] = [];
  const first = spans.reduce((least, span) => Math.min(least, span.startNs), Infinity);
  const byStart = (a: number, b: number): number => spans[a]!.startNs - spans[b]!.startNs || a - b;

  breakCycles(spans, links);
  const stack = links.roots.sort(byStart).reverse().map((index) => ({ index, parent: -1 }));
  for (let at = stack.pop(); at; at = stack.pop()) {
    const span = spans[at.index]!;
    const parent = branches[at.parent];
    const inherited = parent?.shiftedNs ?? 0;
    const beginNs = span.startNs - first + inherited;
    const shift = asRecorded ? 0 : shiftOf(span, beginNs, parent);

    const here = branches.length;
    branches.push({
      span, parent: at.parent, depth: parent ? parent.depth + 1 : 0, descendants: 0, beginNs: beginNs + shift,
      shiftedNs: inherited + shift, orphan: at.parent < 0 && span.parentId !== null,
    });
    for (const child of links.children[at.index]!.sort(byStart).reverse())
      stack.push({ index: child, parent: here });
  }
  for (let index = branches.length - 1; index > 0; index--) {
    const above = branches[branches[index]!.parent];
    if (above)
      above.descendants += branches[index]!.descendants + 1;
  }
  return summed(branches);
}

function summed(branches: Branch[]): Forest {
  const forest: Forest = { branches, lengthNs: 0, self: 0, samples: 0, orphans: 0, shifted: 0 };

  const first = branches.reduce((least, { beginNs }) => Math.min(least, beginNs), Infinity);

  for (const branch of branches) {
    const { span, orphan, shiftedNs } = branch;
    const beginNs = branch.beginNs -= first;

    forest.lengthNs = Math.max(forest.lengthNs, beginNs + span.durationNs);
    forest.self += span.own;
    forest.samples += span.samples;
    forest.orphans += orphan ? 1 : 0;
    forest.shifted += shiftedNs ? 1 : 0;
  }
  return forest;
}

/** The visible branches if those in `closed` are collapsed. */
export function visibleOf(forest: Forest, closed: ReadonlySet<number>): number[] {
  const visible: number[] = [];

  for (let index = 0; index < forest.branches.length; index++) {
    visible.push(index);
    if (closed.has(index))
      index += forest.branches[index]!.descendants;
  }
  return visible;
}
