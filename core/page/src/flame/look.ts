/** How a graph is looked at, by the names of the address's parameters:
 *
 * zoom      where, as refs.ts writes it; of a sandwich "callees^callers"
 * search    a part of names, or /regex/
 * focus     functions, one a line: only stacks that go through each of them
 * hide      functions, one a line: their frames are left out
 * sandwich  a function: its callers above, its callees below
 * recursion direct | all: shown once
 * layout    icicle (the root is on top) | flame
 * colour    package | kind; in a comparison also: change
 * scale     only in a comparison: shares | values
 * sort      value | name: what is left among siblings
 * order     the table's column, "-" before it: the least first
 * shown     both | table | graph */
export const LOOK_NAMES = [
  "zoom", "search", "focus", "hide", "sandwich", "recursion", "layout", "colour", "scale", "sort", "order", "shown",
] as const;

export type Look = Partial<Record<(typeof LOOK_NAMES)[number], string>>;

/** A look after a change; other members of the parameters are dropped. */
export function changedLook(look: Look, change: Look): Look {
  const result: Look = {};

  for (const name of LOOK_NAMES) {
    const value = change[name] ?? look[name];
    if (value !== undefined && value !== "")
      result[name] = value;
  }
  return result;
}
