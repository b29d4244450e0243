/** Writes a tree as folded stacks, one "outer;inner 30" per line. Lines of a comparison
 * have two values, the baseline's first, like those of FlameGraph's difffolded.pl. The
 * first lines begin with "#" and have title, query, range and link. */
import { pathOf, type Tree } from "../model/tree.ts";
import { commentsOf, type Origin } from "./origin.ts";

/** Replaces the characters of a name that separate frames and lines. */
function frameName(name: string): string {
  return name.replaceAll(";", ":").replace(/[\r\n]+/g, " ");
}

/** The frame that stands for stacks without frames, since all their functions are
 * hidden. */
const NO_FRAME = "[no frame]";

export function foldedOf(tree: Tree, title: string, origin: Pick<Origin, "lines" | "link">): string {
  const names = tree.functions.name.map(frameName);
  const lines: string[] = [];

  for (let node = 0; node < tree.parent.length; node++) {
    // Readers of folded stacks accept only integers.
    const self = Math.round(tree.self[node]!);
    const base = Math.round(tree.baseSelf?.[node] ?? 0);
    if (self === 0 && base === 0)
      continue;
    const stack = node === 0 ? NO_FRAME : pathOf(tree, node).map((id) => names[id]!).join(";");
    // A space precedes a name that begins with "#", because readers skip lines that begin
    // with "#".
    lines.push(`${stack.startsWith("#") ? " " : ""}${stack} ${tree.baseSelf ? `${base} ` : ""}${self}\n`);
  }
  return commentsOf(title, origin) + lines.join("");
}
