/** Which frames a panel's graphs are zoomed to, and how the address says it: the
 * lower graph's path, "^", and that of a sandwich's callers. */
import type { Graph } from "./graph.ts";
import { readPath, writePath } from "./refs.ts";

export type Part = "lower" | "upper";
export const PARTS = ["upper", "lower"] as const;

export type Graphs = Readonly<Record<Part, Graph | null>>;

export class Zooms {
  lower = 0;
  upper = 0;
  private read: { lower: Graph | null; upper: Graph | null; text: string } = { lower: null, upper: null, text: "" };

  /** A path is looked up among all nodes: only where it or they changed. */
  set({ lower, upper }: Graphs, text: string): void {
    if (this.read.lower === lower && this.read.upper === upper && this.read.text === text)
      return;
    const [lowerPath = "", upperPath = ""] = text.split("^");
    this.lower = lower ? readPath(lower, lowerPath) : 0;
    this.upper = upper ? readPath(upper, upperPath) : 0;
    this.read = { lower, upper, text };
  }

  /** What the address would say with one of them at another frame. */
  textWith(graphs: Graphs, part: Part, index: number): string {
    return (["lower", "upper"] as const).map((each) => {
      const graph = graphs[each];
      return graph ? writePath(graph, each === part ? index : this[each]) : "";
    }).join("^").replace(/\^$/, "");
  }
}
