/** References to functions and frames in an address. They stay valid after a reload
 * and in other data that has the same functions. */
import type { Functions } from "../../model/tree.ts";
import type { Graph } from "../graph/graph.ts";

/** Longer names are cut and distinguished by their hash. */
const NAME_MAX = 100;

/** FNV-1a over UTF-16 units (http://www.isthe.com/chongo/tech/comp/fnv/) with the
 * finalizer of MurmurHash3. */
function hashText(text: string, seed: number): number {
  let hash = seed;

  for (let at = 0; at < text.length; at++)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

interface Known {
  /** The hash of each function's name and file; UNSEEN until it is needed. */
  readonly hashes: Float64Array;
  /** The functions of each name; null until they are needed. */
  ids: ReadonlyMap<string, number | readonly number[]> | null;
}

const UNSEEN = -1;
const knowns = new WeakMap<Functions, Known>();

function knownOf(functions: Functions): Known {
  let known = knowns.get(functions);

  if (!known) {
    known = { hashes: new Float64Array(functions.name.length).fill(UNSEEN), ids: null };
    knowns.set(functions, known);
  }
  return known;
}

function idsByName(functions: Functions): ReadonlyMap<string, number | readonly number[]> {
  const known = knownOf(functions);

  if (!known.ids) {
    const ids = new Map<string, number | number[]>();
    functions.name.forEach((name, id) => {
      const others = ids.get(name);
      if (typeof others === "object")
        others.push(id);
      else
        ids.set(name, others === undefined ? id : [others, id]);
    });
    known.ids = ids;
  }
  return known.ids;
}

/** Returns a function that returns the hash of a function's name and file. */
function hasherOf(functions: Functions): (id: number) => number {
  const { hashes } = knownOf(functions);

  return (id) => {
    if (hashes[id] === UNSEEN)
      hashes[id] = hashText(functions.file[id]!, hashText(functions.name[id]!, 0x811c9dc5));
    return hashes[id]!;
  };
}

/** The reference to a function: its name if that is unique, else its name and a hash
 * of name and file. */
export function refOf(functions: Functions, id: number): string {
  const name = functions.name[id]!;
  const isPlain = name !== "" && name.length <= NAME_MAX && !/[\u0000-\u001f\ud800-\udfff]/.test(name);

  if (isPlain && typeof idsByName(functions).get(name) === "number")
    return name;
  return `${isPlain ? name : name.slice(0, 20).replace(/[\u0000-\u001f\ud800-\udfff]/g, "?")}~${hasherOf(functions)(id).toString(36)}`;
}

/** Finds the function of `functions` that is the function `id` of `others`; -1 if it is
 * missing. */
export function sameFunction(functions: Functions, others: Functions, id: number): number {
  if (functions === others || id < 0)
    return id;
  const named = idsByName(functions).get(others.name[id]!) ?? [];
  const found = (typeof named === "number" ? [named] : named).filter((each) => functions.file[each] === others.file[id]);

  return found.find((each) => functions.line[each] === others.line[id]) ?? found[0] ?? -1;
}

/** A mask of the functions that a reference names; null if there are none. */
export function maskOf(functions: Functions, ref: string): Uint8Array | null {
  const mask = new Uint8Array(functions.name.length);
  const found = idsByName(functions).get(ref);

  if (found !== undefined) {
    for (const id of typeof found === "number" ? [found] : found)
      mask[id] = 1;
    return mask;
  }
  const hash = parseInt(/~([0-9a-z]{1,7})$/.exec(ref)?.[1] ?? "", 36);
  const hashOf = hasherOf(functions);
  for (let id = 0; id < mask.length; id++)
    mask[id] = hashOf(id) === hash ? 1 : 0;
  return mask.includes(1) ? mask : null;
}

/** The first function that a reference names; -1 if there is none. */
export function idOfRef(functions: Functions, ref: string): number {
  return maskOf(functions, ref)?.indexOf(1) ?? -1;
}

/** The name of a reference's function; the reference itself if the function is missing. */
export function nameOfRef(functions: Functions, ref: string): string {
  const id = idOfRef(functions, ref);

  return id < 0 ? ref : functions.name[id]!;
}

/** Splits a list of references, one per line. */
export function readRefs(text: string | undefined): string[] {
  return (text ?? "").split("\n").filter((ref) => ref !== "");
}

function joined(above: number, hash: number): number {
  return hashText("", Math.imul(above ^ 0x5bd1e995, 0x1b873593) ^ hash);
}

/** The path to a node as text: its depth, and hashes of the paths to the node and to
 * its ancestors at distances 1, 2, 4, …. In data without the node, readPath() finds
 * an ancestor instead. "" is the root. */
export function writePath(graph: Graph, index: number): string {
  const hashOf = hasherOf(graph.tree.functions);
  const path: number[] = [];

  for (let node = index; node > 0; node = graph.parent[node]!)
    path.push(hashOf(graph.functionOf[node]!));
  if (path.length === 0)
    return "";
  let above = 0;
  const paths = path.reverse().map((hash) => above = joined(above, hash));
  const written = [String(path.length), paths[path.length - 1]!.toString(36)];
  for (let distance = 1; distance < path.length; distance *= 2)
    written.push(paths[path.length - 1 - distance]!.toString(36));
  return written.join("-");
}

/** The node of a written path, else its nearest ancestor that exists, else 0 (the root). */
export function readPath(graph: Graph, text: string): number {
  const [depthText, ...hashTexts] = text.split("-");
  const depth = Number(depthText);

  if (!Number.isSafeInteger(depth) || depth < 1 || hashTexts.length === 0)
    return 0;
  const hashOf = hasherOf(graph.tree.functions);
  // Deeper nodes are not needed.
  const paths = new Uint32Array(graph.levelStart[depth + 1] ?? graph.parent.length);
  for (let index = 1; index < paths.length; index++)
    paths[index] = joined(paths[graph.parent[index]!]!, hashOf(graph.functionOf[index]!));
  for (const [at, hashText36] of hashTexts.entries()) {
    const level = at === 0 ? depth : depth - 2 ** (at - 1);
    const sought = parseInt(hashText36, 36);
    const start = graph.levelStart[level];
    const end = graph.levelStart[level + 1];
    if (level < 1 || start === undefined || end === undefined)
      continue;
    const found = paths.subarray(start, end).indexOf(sought);
    if (found >= 0)
      return start + found;
  }
  return 0;
}

/** The nodes from the root to a node, both included. */
export function pathTo(graph: Graph, index: number): number[] {
  const path = [index];

  for (let node = index; node > 0;)
    path.push(node = graph.parent[node]!);
  return path.reverse();
}

