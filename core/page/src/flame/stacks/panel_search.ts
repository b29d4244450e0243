/** The search of a panel: its matches, their share, and the current match. */
import { amount, count, percent } from "../../parts/format.ts";
import { safeText } from "../../parts/dom.ts";
import type { Functions } from "../../model/tree.ts";
import type { Graph } from "../graph/graph.ts";
import { Patterns } from "./patterns.ts";
import { readPath, sameFunction, writePath } from "./refs.ts";
import { matchesOf, matching, shareOf, type Share } from "./search.ts";

export class PanelSearch {
  /** The functions that match the search; null without a search. */
  mask: Uint8Array | null = null;
  /** The error message of an invalid search, else "". */
  fault = "";
  /** The function that the user highlighted; -1 if none. */
  highlighted = -1;
  private readonly patterns = new Patterns();
  /** Whether the worker is matching a pattern, and the argument of the step() call to
   * make afterwards. */
  private isWaiting = false;
  private pendingStep = 0;
  private graph: Graph | null = null;
  private drawnGraph: Graph | null = null;
  private searched = "";
  private highlightMask: Uint8Array | null = null;
  private share: Share | null = null;
  private matches: Uint32Array | null = null;
  private matchIndex = -1;
  /** The path to the current match; "" if none. */
  private currentPath = "";

  /** `onFound` is called when the worker has matched a pattern. `step` is the argument
   * of the last step() call during the match, else 0. */
  constructor(private readonly onFound: (step: number) => void) {}

  /** The functions that the graph highlights. */
  get graphMask(): Uint8Array | null {
    return this.highlightMask ?? this.mask;
  }

  get count(): number {
    return this.share?.frames ?? 0;
  }

  /** Prepares for another tree with these functions: converts the highlighted function
   * and the mask to them. The mask is shown until search() has matched a pattern again
   * and restored the current match by its path. */
  prepareFor(functions: Functions): void {
    const before = this.graph?.tree.functions;

    this.patterns.stop();
    if (before) {
      const { mask } = this;
      this.highlighted = sameFunction(functions, before, this.highlighted);
      this.mask = mask && Uint8Array.from(functions.name, (_, id) => mask[sameFunction(before, functions, id)] ?? 0);
    }
    this.graph = this.drawnGraph = null;
  }

  /** Searches for `text`. Shares of the matches refer to the total of `graph`. step()
   * goes through the matches in `drawn`. */
  search(graph: Graph, drawn: Graph, text: string): void {
    const isSame = this.graph?.tree.functions === graph.tree.functions && this.searched === text;

    if (isSame && this.graph === graph && this.drawnGraph === drawn)
      return;
    if (this.searched !== text)
      this.currentPath = "";
    if (!isSame) {
      this.start(graph, text);
      this.searched = text;
    }
    this.highlight(graph, drawn, this.highlighted);
  }

  private start(graph: Graph, text: string): void {
    const { functions } = graph.tree;
    const found = matching(functions, text);
    const setResult = (mask: Uint8Array | string | null): void => {
      this.isWaiting = false;
      this.fault = typeof mask === "string" ? mask : "";
      this.mask = typeof mask === "string" ? null : mask;
    };

    this.pendingStep = 0;
    if (!(found instanceof RegExp)) {
      if (text.startsWith("/"))
        this.patterns.prepare(functions.name);
      else
        this.patterns.stop();
      setResult(found);
      return;
    }
    // Until the pattern is matched, show the previous matches if they belong to the
    // same names.
    if (this.mask?.length !== functions.name.length)
      this.mask = null;
    this.fault = "";
    this.isWaiting = true;
    this.patterns.match(functions.name, found, (mask) => {
      setResult(mask);
      if (this.graph && this.drawnGraph)
        this.highlight(this.graph, this.drawnGraph, this.highlighted);
      this.onFound(this.pendingStep);
    });
  }

  dispose(): void {
    this.patterns.stop();
  }

  highlight(graph: Graph, drawn: Graph, id: number): void {
    if (this.highlighted !== id)
      this.currentPath = "";
    this.highlighted = id;
    this.highlightMask = null;
    if (id >= 0) {
      this.highlightMask = new Uint8Array(graph.tree.functions.name.length);
      this.highlightMask[id] = 1;
    }
    this.graph = graph;
    this.drawnGraph = drawn;
    this.share = this.graphMask && shareOf(graph, this.graphMask);
    this.matches = null;
    this.matchIndex = this.placeOf(drawn, this.currentPath);
  }

  /** The index of the match at a path; -1 if there is none. */
  private placeOf(drawn: Graph, path: string): number {
    const index = path === "" ? 0 : readPath(drawn, path);

    if (!this.graphMask || index === 0 || writePath(drawn, index) !== path)
      return -1;
    this.matches = matchesOf(drawn, this.graphMask);
    return this.matches.indexOf(index);
  }

  /** Goes to the next (1) or previous (-1) match of the drawn graph, in order of width; -1 if there is none. */
  step(by: number): number {
    if (this.isWaiting && this.highlighted < 0) {
      this.pendingStep = by;
      return -1;
    }
    if (!this.graphMask || !this.drawnGraph)
      return -1;
    this.matches ??= matchesOf(this.drawnGraph, this.graphMask);
    if (this.matches.length === 0)
      return -1;
    this.matchIndex = this.matchIndex < 0 && by < 0 ? this.matches.length - 1 : (this.matchIndex + by + this.matches.length) % this.matches.length;
    this.currentPath = writePath(this.drawnGraph, this.matches[this.matchIndex]!);
    return this.matches[this.matchIndex]!;
  }

  /** The result of the search as text. */
  get text(): string {
    const { graph, share } = this;

    if (this.fault)
      return safeText(this.fault);
    if (this.isWaiting && this.highlighted < 0)
      return "searching\u2026";
    if (!share || !graph)
      return "";
    const place = this.matchIndex >= 0 && this.matches ? ` \u00b7 ${count(this.matchIndex + 1)} of ${count(this.matches.length)}` : "";
    const base = graph.baseTotal
      ? `${percent(share.baseTotal / graph.baseTotal[0]!)} \u2192 ` : "";
    return share.frames === 0 ? "no match"
      : `${base}${percent(share.total / graph.total[0]!)} \u00b7 ${amount(share.total, graph.tree.unit)} \u00b7 ${count(share.frames)} frames${place}`;
  }
}
