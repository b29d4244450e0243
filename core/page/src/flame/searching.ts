/** A panel's search: what it means, what share that is, and where matches are. */
import { amount, count, percent } from "../parts/format.ts";
import { shown } from "../parts/dom.ts";
import type { Graph } from "./graph.ts";
import { matchesOf, matching, shareOf, type Share } from "./search.ts";

export class Searching {
  /** Functions of the search; null: all. */
  mask: Uint8Array | null = null;
  /** Why the search is none. */
  fault = "";
  /** A function that was chosen in the table; -1: none. */
  chosen = -1;
  private graph: Graph | null = null;
  private drawn: Graph | null = null;
  private searched = "";
  private chosenMask: Uint8Array | null = null;
  private share: Share | null = null;
  private matches: Uint32Array | null = null;
  private at = -1;

  /** What the graph highlights. */
  get graphMask(): Uint8Array | null {
    return this.chosenMask ?? this.mask;
  }

  get count(): number {
    return this.share?.frames ?? 0;
  }

  /** Other functions: nothing of before means anything. */
  forget(): void {
    this.graph = this.drawn = null;
    this.chosen = -1;
    this.chosenMask = null;
  }

  /** `graph`: what shares are of; `drawn`: where matches are gone to. */
  search(graph: Graph, drawn: Graph, text: string): void {
    const isSame = this.graph?.tree.functions === graph.tree.functions && this.searched === text;

    if (isSame && this.graph === graph && this.drawn === drawn)
      return;
    if (!isSame) {
      const found = matching(graph.tree.functions, text);
      this.fault = typeof found === "string" ? found : "";
      this.mask = typeof found === "string" ? null : found;
      this.searched = text;
    }
    this.choose(graph, drawn, this.chosen);
  }

  choose(graph: Graph, drawn: Graph, id: number): void {
    this.chosen = id;
    this.chosenMask = null;
    if (id >= 0) {
      this.chosenMask = new Uint8Array(graph.tree.functions.name.length);
      this.chosenMask[id] = 1;
    }
    this.graph = graph;
    this.drawn = drawn;
    this.share = this.graphMask && shareOf(graph, this.graphMask);
    this.matches = null;
    this.at = -1;
  }

  /** The next match in what is drawn, the widest first; -1: none. */
  step(by: number): number {
    if (!this.graphMask || !this.drawn)
      return -1;
    this.matches ??= matchesOf(this.drawn, this.graphMask);
    if (this.matches.length === 0)
      return -1;
    this.at = this.at < 0 && by < 0 ? this.matches.length - 1 : (this.at + by + this.matches.length) % this.matches.length;
    return this.matches[this.at]!;
  }

  /** What was found, in a line. */
  get text(): string {
    const { graph, share } = this;

    if (this.fault)
      return shown(this.fault);
    if (!share || !graph)
      return "";
    const place = this.at >= 0 && this.matches ? ` \u00b7 ${count(this.at + 1)} of ${count(this.matches.length)}` : "";
    const base = graph.baseTotal
      ? `${percent(share.baseTotal / graph.baseTotal[0]!)} \u2192 ` : "";
    return share.frames === 0 ? "no match"
      : `${base}${percent(share.total / graph.total[0]!)} \u00b7 ${amount(share.total, graph.tree.unit)} \u00b7 ${count(share.frames)} frames${place}`;
  }
}
