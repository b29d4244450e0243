/** The display options of a flame graph, which are parameters of the address:
 *
 * zoom      path of the zoomed frame (see refs.ts); in a sandwich "callees^callers"
 * search    part of a name, or /regex/
 * focus     functions, one per line: show only stacks that contain each of them
 * hide      functions, one per line: remove their frames
 * mine      1: show only frames of the program's own code
 * sandwich  function: show its callers above and its callees below
 * recursion direct | all: collapse recursive calls into one frame
 * layout    icicle (root at the top) | flame (root at the bottom)
 * colour    package | name | kind; in a comparison also change
 * scale     only in a comparison: shares | values
 * sort      value | name: order of siblings from the left
 * order     the table's sort column; a leading "-" reverses the order
 * shown     both | table | graph
 * lines     function: show its values by line below the graph */
export const DISPLAY_OPTIONS = [
  "zoom", "search", "focus", "hide", "mine", "sandwich", "recursion", "layout", "colour", "scale", "sort", "order", "shown", "lines",
] as const;

export type DisplayOptions = Partial<Record<(typeof DISPLAY_OPTIONS)[number], string>>;

/** Applies a change to display options. Drops parameters that are not display options. */
export function changedOptions(display: DisplayOptions, change: DisplayOptions): DisplayOptions {
  const result: DisplayOptions = {};

  for (const name of DISPLAY_OPTIONS) {
    const value = change[name] ?? display[name];
    if (value !== undefined && value !== "")
      result[name] = value;
  }
  return result;
}
