/** The zoomed frames of a panel's graphs. The address has the path in the lower graph
 * and, for a sandwich, "^" and the path in the graph of the callers. */
import type { Graph } from "./graph.ts";
import { readPath, writePath } from "../stacks/refs.ts";

export type Part = "lower" | "upper";
export const PARTS = ["upper", "lower"] as const;

export type Graphs = Readonly<Record<Part, Graph | null>>;

export class Zooms {
  lower = 0;
  upper = 0;
  private cache: { lower: Graph | null; upper: Graph | null; text: string } = { lower: null, upper: null, text: "" };

  /** Searches all nodes for the paths, but only if the graphs or the text changed. */
  set({ lower, upper }: Graphs, text: string): void {
    if (this.cache.lower === lower && this.cache.upper === upper && this.cache.text === text)
      return;
    const [lowerPath = "", upperPath = ""] = text.split("^");
    this.lower = lower ? readPath(lower, lowerPath) : 0;
    this.upper = upper ? readPath(upper, upperPath) : 0;
    this.cache = { lower, upper, text };
  }

  /** Returns the text for the address if the user zooms one of the graphs to this
   * frame. */
  textWith(graphs: Graphs, part: Part, index: number): string {
    return (["lower", "upper"] as const).map((each) => {
      const graph = graphs[each];
      return graph ? writePath(graph, each === part ? index : this[each]) : "";
    }).join("^").replace(/\^$/, "");
  }
}
