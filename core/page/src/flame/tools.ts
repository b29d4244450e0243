/** The actions on a function, by menu or key, and the chips that undo them. */
import type { Functions } from "../model/tree.ts";
import type { DisplayOptions } from "./display.ts";
import type { Item } from "./menu.ts";
import { nameOfRef, readRefs, refOf } from "./stacks/refs.ts";
import type { Chip } from "./toolbar.ts";

export interface Tools {
  readonly display: DisplayOptions;
  readonly functions: Functions;
  /** Whether the values of functions by line are available. */
  readonly hasLines: boolean;
  change(change: DisplayOptions): void;
  choose(functionId: number): void;
  copy(functionId: number): void;
}

function withRef(text: string | undefined, ref: string): string {
  return [...readRefs(text).filter((each) => each !== ref), ref].join("\n");
}

/** The actions on a function. The root has none. */
export function toolsOf(tools: Tools, id: number): Item[] {
  if (id < 0)
    return [];
  const { display } = tools;
  const ref = refOf(tools.functions, id);

  return [
    { text: "Callers and callees (sandwich)", key: "s", act: () => { tools.change({ sandwich: ref, zoom: "" }); } },
    { text: "Focus (only stacks with it)", key: "f", act: () => { tools.change({ focus: withRef(display.focus, ref) }); } },
    { text: "Hide (keep its callees)", key: "h", act: () => { tools.change({ hide: withRef(display.hide, ref) }); } },
    { text: "Highlight", key: "m", act: () => { tools.choose(id); } },
    { text: "Copy name", key: "c", act: () => { tools.copy(id); } },
    ...tools.hasLines ? [{ text: "Lines (values by line)", key: "l", act: () => { tools.change({ lines: ref }); } }] : [],
  ];
}

/** Runs the action of a key. Returns false if the key has no action. */
export function runKey(tools: Tools, key: string, id: number): boolean {
  const tool = toolsOf(tools, id).find((item) => item.key === key);

  tool?.act();
  return tool !== undefined;
}

/** The chips for focus, hide, sandwich and recursion. */
export function filterChips(functions: Functions, display: DisplayOptions): Chip[] {
  const chips: Chip[] = [];

  for (const name of ["focus", "hide"] as const)
    for (const ref of readRefs(display[name]))
      chips.push({
        text: `${name === "focus" ? "focus" : "hidden"}: ${nameOfRef(functions, ref)}`,
        change: { [name]: readRefs(display[name]).filter((each) => each !== ref).join("\n") },
      });
  if (display.sandwich)
    chips.push({ text: `sandwich: ${nameOfRef(functions, display.sandwich)}`, change: { sandwich: "", zoom: "" } });
  if (display.recursion)
    chips.push({ text: `recursion: ${display.recursion === "all" ? "all collapsed" : "direct collapsed"}`, change: { recursion: "" } });
  return chips;
}
