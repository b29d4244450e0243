/** Longer texts of a panel. */
import type { Tree } from "../model/tree.ts";
import { safeText } from "../parts/dom.ts";
import type { Derived } from "./stacks/derive.ts";
import type { DisplayOptions } from "./display.ts";

/** The description of the graph for screen readers. */
export const HELP = "Arrow keys move between frames, Enter zooms in, Escape zooms out. Slash searches, n goes to the next match. "
  + "s shows callers and callees of the function, f shows only stacks with it, h hides it, c copies its name, l shows its values by line, u undoes the last step. "
  + "Shift F10 opens the context menu, question mark lists the shortcuts. The table of functions has the same values.";

/** Explains an empty graph. */
export function emptyText(whole: Tree, derived: Derived, display: DisplayOptions): string {
  if (derived.missing.length > 0)
    return `Not in this profile: ${derived.missing.map((ref) => safeText(ref, 200)).join(", ")}. Remove the filter above to see all stacks.`;
  if (whole.parent.length > 1 && (display.focus || display.sandwich || display.hide))
    return "No stacks match the filters above.";
  return "This profile has no samples.";
}
