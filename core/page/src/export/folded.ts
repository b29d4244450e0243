/** A tree as folded stacks, "outer;inner 30" a line; of a comparison with two
 * values, the base's first, as difffolded.pl of FlameGraph writes them. */
import type { Tree } from "../model/tree.ts";

/** Without what separates stacks and frames. */
function frameName(name: string): string {
  return name.replaceAll(";", ":").replace(/[\r\n]+/g, " ");
}

/** What hiding all its functions left of a stack. */
const NO_FRAME = "[no frame]";

export function foldedOf(tree: Tree): string {
  const names = tree.functions.name.map(frameName);
  const lines: string[] = [];
  const path: string[] = [];

  for (let node = 0; node < tree.parent.length; node++) {
    // Shares have fractions, which no reader of such lines takes.
    const own = Math.round(tree.self[node]!);
    const base = Math.round(tree.baseSelf?.[node] ?? 0);
    if (own === 0 && base === 0)
      continue;
    path.length = 0;
    for (let at = node; at > 0; at = tree.parent[at]!)
      path.push(names[tree.functionOf[at]!]!);
    if (node === 0)
      path.push(NO_FRAME);
    lines.push(`${path.reverse().join(";")} ${tree.baseSelf ? `${base} ` : ""}${own}\n`);
  }
  return lines.join("");
}
