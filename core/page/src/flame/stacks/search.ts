/** Search: the functions that match, and their share of the total. */
import type { Functions } from "../../model/tree.ts";
import type { Graph } from "../graph/graph.ts";

const lowered = new WeakMap<Functions, readonly string[]>();

function loweredNames(functions: Functions): readonly string[] {
  let found = lowered.get(functions);

  if (!found) {
    found = functions.name.map((name) => name.toLowerCase());
    lowered.set(functions, found);
  }
  return found;
}

/** Parses a search. For a part of a name, ignoring case, returns a mask of the
 * functions that contain it. For `/regex/` or `/regex/i`, returns the expression or an
 * error message. For an empty search, returns null. */
export function matching(functions: Functions, search: string): Uint8Array | RegExp | string | null {
  if (search === "")
    return null;
  const pattern = /^\/(.+)\/(i?)$/s.exec(search);
  if (!pattern) {
    const part = search.toLowerCase();
    return Uint8Array.from(loweredNames(functions), (name) => name.includes(part) ? 1 : 0);
  }
  try {
    return new RegExp(pattern[1]!, `u${pattern[2]!}`);
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^Invalid regular expression: /, "") : String(error);
  }
}

/** The total of the stacks that contain a frame of a mask, over all nodes. A stack
 * with several such frames counts once. */
export interface Share {
  readonly total: number;
  readonly baseTotal: number;
  /** Number of matching frames. */
  readonly frames: number;
}

export function shareOf(graph: Graph, mask: Uint8Array): Share {
  const { functionOf, parent } = graph;
  const inside = new Uint8Array(functionOf.length);
  let total = 0;
  let baseTotal = 0;
  let frames = 0;

  for (let index = 1; index < functionOf.length; index++) {
    const isMatch = mask[functionOf[index]!]!;
    const isIn = inside[parent[index]!]!;
    inside[index] = isMatch | isIn;
    if (!isMatch)
      continue;
    frames++;
    if (!isIn) {
      total += graph.total[index]!;
      baseTotal += graph.baseTotal?.[index] ?? 0;
    }
  }
  return { total, baseTotal, frames };
}

/** Matching frames, the widest first. */
export function matchesOf(graph: Graph, mask: Uint8Array): Uint32Array {
  const found: number[] = [];

  for (let index = 1; index < graph.functionOf.length; index++)
    if (mask[graph.functionOf[index]!])
      found.push(index);
  return Uint32Array.from(found).sort((a, b) => graph.width[b]! - graph.width[a]! || a - b);
}
