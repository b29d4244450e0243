/** Writes a tree as folded stacks, one "outer;inner 30" per line. Lines of a comparison
 * have two values, the baseline's first, like those of FlameGraph's difffolded.pl. */
import type { Tree } from "../model/tree.ts";

/** Replaces the characters of a name that separate frames and lines. */
function frameName(name: string): string {
  return name.replaceAll(";", ":").replace(/[\r\n]+/g, " ");
}

/** The frame that stands for stacks without frames, since all their functions are
 * hidden. */
const NO_FRAME = "[no frame]";

export function foldedOf(tree: Tree): string {
  const names = tree.functions.name.map(frameName);
  const lines: string[] = [];
  const path: string[] = [];

  for (let node = 0; node < tree.parent.length; node++) {
    // Readers of folded stacks accept only integers.
    const self = Math.round(tree.self[node]!);
    const base = Math.round(tree.baseSelf?.[node] ?? 0);
    if (self === 0 && base === 0)
      continue;
    path.length = 0;
    for (let at = node; at > 0; at = tree.parent[at]!)
      path.push(names[tree.functionOf[at]!]!);
    if (node === 0)
      path.push(NO_FRAME);
    lines.push(`${path.reverse().join(";")} ${tree.baseSelf ? `${base} ` : ""}${self}\n`);
  }
  return lines.join("");
}
