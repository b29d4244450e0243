/** The function whose lines a flame graph's display options select. */
import { changedOptions, type DisplayOptions } from "../flame/display.ts";
import { idOfRef, nameOfRef } from "../flame/stacks/refs.ts";
import type { Functions } from "../model/tree.ts";
import type { ShownFunction } from "./panel.ts";
import type { FunctionLines } from "./values.ts";

/** Returns null if no function is selected, or if its lines are not available. */
export function shownFunction(functions: Functions, display: DisplayOptions, load: FunctionLines | null): ShownFunction | null {
  const { lines: ref, focus, hide, mine, sandwich } = changedOptions(display, {});
  const id = ref ? idOfRef(functions, ref) : -1;

  return !ref || !load ? null : {
    load, name: nameOfRef(functions, ref), file: functions.file[id] ?? "", start: functions.line[id] ?? 0,
    isFiltered: Boolean(focus ?? hide ?? mine ?? sandwich),
  };
}
