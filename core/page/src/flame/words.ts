/** Longer texts of a panel. */
import type { Tree } from "../model/tree.ts";
import { shown } from "../parts/dom.ts";
import type { Derived } from "./derive.ts";
import type { Look } from "./look.ts";

/** The description of the graph for screen readers. */
export const HELP = "Arrow keys go from frame to frame, Enter zooms, Escape zooms out. Slash searches, n goes to the next match. "
  + "s: callers and callees of the function. f: only stacks through it. h: leaves it out. c copies its name. "
  + "Shift and F10: all that can be done. u: undo. Question mark: a list of the keys. The same numbers are in the table of functions beside the graph.";

/** Explains an empty graph. */
export function emptyText(whole: Tree, derived: Derived, look: Look): string {
  if (derived.missing.length > 0)
    return `There is no function ${derived.missing.map((ref) => shown(ref, 200)).join(", ")} in this profile. Take the mark above off to see all.`;
  if (whole.parent.length > 1 && (look.focus || look.sandwich || look.hide))
    return "No stack is left. Take a mark above off to see more.";
  return "There is nothing in this profile: no sample was taken.";
}
