/** The earlier display options of a panel, for undo. */
import { DISPLAY_OPTIONS, type DisplayOptions } from "./display.ts";

const STEPS_MAX = 100;

export class History {
  private readonly steps: DisplayOptions[] = [];

  get canUndo(): boolean {
    return this.steps.length > 0;
  }

  /** Adds the options before a change. The letters of a search are one step. */
  add(options: DisplayOptions, change: DisplayOptions): void {
    const isTyping = Object.keys(change).join() === "search" && this.steps[this.steps.length - 1]?.search !== options.search;

    if (!isTyping || this.steps.length === 0)
      this.steps.push(options);
    if (this.steps.length > STEPS_MAX)
      this.steps.shift();
  }

  /** Removes the last step. Returns the change from `options` to it; null if there is no step. */
  undo(options: DisplayOptions): DisplayOptions | null {
    const before = this.steps.pop();

    if (!before)
      return null;
    const change: DisplayOptions = {};
    for (const name of DISPLAY_OPTIONS)
      if (before[name] !== options[name])
        change[name] = before[name] ?? "";
    return change;
  }
}
