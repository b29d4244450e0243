/** The keys that the graph and the table of a panel share. */
export interface Shortcuts {
  undo(): void;
  search(): void;
  /** Goes to the next match (1) or the previous one (-1). */
  step(by: number): void;
  reset(): void;
  help(): void;
  /** Returns false if there is nothing to undo. */
  escape(): boolean;
  /** Runs the action of another key. Returns false if the key has no action. */
  run(key: string): boolean;
}

/** Returns false for keys without an action. */
export function runShortcut(event: KeyboardEvent, shortcuts: Shortcuts): boolean {
  const { key } = event;
  const isUndo = event.ctrlKey ? key === "z" : key === "u";

  if (isUndo)
    shortcuts.undo();
  else if (event.ctrlKey)
    return false;
  else if (key === "/")
    shortcuts.search();
  else if (key === "n" || key === "N")
    shortcuts.step(key === "n" ? 1 : -1);
  else if (key === "r")
    shortcuts.reset();
  else if (key === "?")
    shortcuts.help();
  else
    return key === "Escape" ? shortcuts.escape() : shortcuts.run(key);
  return true;
}
