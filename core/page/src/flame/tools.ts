/** The actions on a function, by menu or key, and the chips that undo them. */
import type { Functions } from "../model/tree.ts";
import type { Look } from "./look.ts";
import type { Item } from "./menu.ts";
import { nameOfRef, readRefs, refOf } from "./refs.ts";
import type { Chip } from "./toolbar.ts";

export interface Tools {
  readonly look: Look;
  readonly functions: Functions;
  change(change: Look): void;
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
  const { look } = tools;
  const ref = refOf(tools.functions, id);

  return [
    { text: "Callers and callees (sandwich)", key: "s", act: () => { tools.change({ sandwich: ref, zoom: "" }); } },
    { text: "Focus (only stacks with it)", key: "f", act: () => { tools.change({ focus: withRef(look.focus, ref) }); } },
    { text: "Hide (keep its callees)", key: "h", act: () => { tools.change({ hide: withRef(look.hide, ref) }); } },
    { text: "Highlight", key: "m", act: () => { tools.choose(id); } },
    { text: "Copy name", key: "c", act: () => { tools.copy(id); } },
  ];
}

/** Runs the action of a key. Returns false if the key has no action. */
export function keyTool(tools: Tools, key: string, id: number): boolean {
  const tool = toolsOf(tools, id).find((item) => item.key === key);

  tool?.act();
  return tool !== undefined;
}

/** The chips for focus, hide, sandwich and recursion. */
export function chipsOfLook(functions: Functions, look: Look): Chip[] {
  const chips: Chip[] = [];

  for (const name of ["focus", "hide"] as const)
    for (const ref of readRefs(look[name]))
      chips.push({
        text: `${name === "focus" ? "focus" : "hidden"}: ${nameOfRef(functions, ref)}`,
        change: { [name]: readRefs(look[name]).filter((each) => each !== ref).join("\n") },
      });
  if (look.sandwich)
    chips.push({ text: `sandwich: ${nameOfRef(functions, look.sandwich)}`, change: { sandwich: "", zoom: "" } });
  if (look.recursion)
    chips.push({ text: `recursion: ${look.recursion === "all" ? "all collapsed" : "direct collapsed"}`, change: { recursion: "" } });
  return chips;
}
