/** Derives the graphs to draw and the rows to list from a tree and its display options. */
import type { Tree } from "../../model/tree.ts";
import { graphOf, type Graph, type Order } from "../graph/graph.ts";
import type { DisplayOptions } from "../display.ts";
import { foreignMask, placesOf } from "./code_place.ts";
import { maskOf, readRefs } from "./refs.ts";
import { rowsOf, type Rows } from "../table/rows.ts";
import { calleesOf, callersOf, collapsed, focused, hidden } from "./stacks.ts";

export interface Derived {
  /** The graph for the table and for search results: after focus, hide, "only my code" and recursion. */
  readonly graph: Graph;
  readonly rows: Rows;
  /** The drawn graph: `graph`, or the callees in the sandwich view. */
  readonly lower: Graph;
  /** The callers in the sandwich view, else null. */
  readonly upper: Graph | null;
  /** References to functions that the tree does not have. */
  readonly missing: readonly string[];
  /** Whether "only my code" changes something: the profile has own and other code. */
  readonly hasForeign: boolean;
}

/** Returns a text that differs if the display options lead to different graphs. */
export function shapeOf(display: DisplayOptions): string {
  return JSON.stringify([display.focus, display.hide, display.mine, display.sandwich, display.recursion, display.scale, display.sort]);
}

/** Selects the scale of a comparison: values if requested, else shares. */
export function scaled(tree: Tree, scale: string | undefined): Tree {
  return { ...tree, comparison: tree.comparison && tree.comparison.by(scale === "values" ? scale : "shares") };
}

export function derive(whole: Tree, display: DisplayOptions): Derived {
  const order: Order = display.sort === "name" ? "name" : "value";
  const missing: string[] = [];
  let tree = scaled(whole, display.scale);

  function maskOrMiss(ref: string): Uint8Array {
    const mask = maskOf(whole.functions, ref);
    if (!mask)
      missing.push(ref);
    return mask ?? new Uint8Array(whole.functions.name.length);
  }

  for (const ref of readRefs(display.hide))
    tree = hidden(tree, maskOrMiss(ref));
  for (const ref of readRefs(display.focus))
    tree = focused(tree, maskOrMiss(ref));
  const foreign = display.mine === "1" ? foreignMask(whole.functions) : null;
  if (foreign)
    tree = hidden(tree, foreign);
  if (display.recursion === "direct" || display.recursion === "all")
    tree = collapsed(tree, display.recursion);
  const graph = graphOf(tree, order);
  const sandwich = display.sandwich ? maskOrMiss(display.sandwich) : null;
  return {
    graph,
    rows: rowsOf(graph),
    lower: sandwich ? graphOf(calleesOf(tree, sandwich), order) : graph,
    upper: sandwich ? graphOf(callersOf(tree, sandwich), order) : null,
    missing,
    hasForeign: placesOf(whole.functions).hasForeign,
  };
}

/** The totals of both sides before filtering. */
export function sumsOf({ self, baseSelf }: Tree): { whole: number; wholeBase: number } {
  const sum = (values: Float64Array): number => values.reduce((all, value) => all + value, 0);

  return { whole: sum(self), wholeBase: baseSelf ? sum(baseSelf) : 0 };
}
