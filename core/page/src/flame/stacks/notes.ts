/** Notes above a flame graph on missing stacks and merged frames. */
import type { Graph } from "../graph/graph.ts";
import { totalsOf, type Tree } from "../../model/tree.ts";
import { count, percent } from "../../parts/format.ts";

/** Frames that replace a missing stack or its missing outer end: SP_NOTES of
 * core/src/profile/profile.h. */
const WITHOUT_STACK: readonly string[] = [
  "[signal blocked]", "[thread start]", "[thread end]", "[truncated]", "[too many stacks]", "[no timer]",
];
/** Smallest share of incomplete stacks that a note mentions. */
const SHARE_MIN = 0.01;

/** Returns the values of each frame of WITHOUT_STACK, and of the whole tree. The values
 * of both sides of a comparison are added. */
function sumsOf(tree: Tree): { all: number; of: Map<string, number> } {
  const both = tree.baseSelf ? tree.self.map((value, node) => value + tree.baseSelf![node]!) : tree.self;
  const totals = totalsOf(tree.parent, both);
  const of = new Map<string, number>();
  const inside = new Uint8Array(totals.length);

  for (let node = 1; node < totals.length; node++) {
    const name = tree.functions.name[tree.functionOf[node]!]!;
    const isNote = name.startsWith("[") && WITHOUT_STACK.includes(name);
    inside[node] = inside[tree.parent[node]!]! | Number(isNote);
    if (isNote && !inside[tree.parent[node]!]!)
      of.set(name, (of.get(name) ?? 0) + totals[node]!);
  }
  return { all: totals[0]!, of };
}

/** One sentence for each note. */
export function notesOf(tree: Tree): string[] {
  const { all, of } = sumsOf(tree);
  const share = [...of.values()].reduce((sum, value) => sum + value, 0) / all;
  const parts = [...of].sort((a, b) => b[1] - a[1]).map(([name, value]) => `${name} ${percent(value / all)}`);
  const notes: string[] = [];

  if (share > SHARE_MIN)
    notes.push(`${percent(share)} of the total has no complete stack: ${parts.join(", ")}.`);
  if (tree.merged > 0)
    notes.push(`The ${count(tree.merged)} smallest frames are merged into (other).`);
  return notes;
}

/** A sentence about the time that "only my code" leaves without a frame; "" if there is none. */
export function foreignNote({ self, baseSelf, total, baseTotal }: Graph): string {
  const outside = self[0]! + (baseSelf?.[0] ?? 0);

  return outside > 0 ? `${percent(outside / (total[0]! + (baseTotal?.[0] ?? 0)))} of the total ran without any frame of the application's own code.` : "";
}

export function showNotes(place: HTMLElement, notes: readonly string[]): void {
  place.textContent = notes.filter((note) => note !== "").join(" ");
  place.hidden = place.textContent === "";
}
