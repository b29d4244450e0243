/** The search of a panel: its matches, their share, and the current match. */
import { amount, count, percent } from "../parts/format.ts";
import { shown } from "../parts/dom.ts";
import type { Functions } from "../model/tree.ts";
import type { Graph } from "./graph.ts";
import { Patterns } from "./patterns.ts";
import { readPath, sameFunction, writePath } from "./refs.ts";
import { matchesOf, matching, shareOf, type Share } from "./search.ts";

export class Searching {
  /** The functions that match the search; null without a search. */
  mask: Uint8Array | null = null;
  /** The error message of an invalid search, else "". */
  fault = "";
  /** The function that the user highlighted; -1 if none. */
  chosen = -1;
  private readonly patterns = new Patterns();
  /** Whether a pattern is being matched, and the step() call to make afterwards. */
  private isWaiting = false;
  private wantedStep = 0;
  private graph: Graph | null = null;
  private drawn: Graph | null = null;
  private searched = "";
  private chosenMask: Uint8Array | null = null;
  private share: Share | null = null;
  private matches: Uint32Array | null = null;
  private at = -1;
  /** The path to the current match; "" if none. */
  private reached = "";

  /** `onFound` is called when the asynchronous matching of a pattern completes. `step`
   * is the argument of the last step() call made meanwhile, else 0. */
  constructor(private readonly onFound: (step: number) => void) {}

  /** The functions that the graph highlights. */
  get graphMask(): Uint8Array | null {
    return this.chosenMask ?? this.mask;
  }

  get count(): number {
    return this.share?.frames ?? 0;
  }

  /** Prepares for another tree with these functions: keeps the highlighted function
   * and the mask, which is shown until a pattern has been matched again. search() then
   * restores the current match by its path. */
  carry(functions: Functions): void {
    const before = this.graph?.tree.functions;

    this.patterns.stop();
    if (before) {
      const { mask } = this;
      this.chosen = sameFunction(functions, before, this.chosen);
      this.mask = mask && Uint8Array.from(functions.name, (_, id) => mask[sameFunction(before, functions, id)] ?? 0);
    }
    this.graph = this.drawn = null;
  }

  /** `graph` is the base of shares; step() goes through the matches in `drawn`. */
  search(graph: Graph, drawn: Graph, text: string): void {
    const isSame = this.graph?.tree.functions === graph.tree.functions && this.searched === text;

    if (isSame && this.graph === graph && this.drawn === drawn)
      return;
    if (this.searched !== text)
      this.reached = "";
    if (!isSame) {
      this.begin(graph, text);
      this.searched = text;
    }
    this.choose(graph, drawn, this.chosen);
  }

  private begin(graph: Graph, text: string): void {
    const { functions } = graph.tree;
    const found = matching(functions, text);
    const take = (mask: Uint8Array | string | null): void => {
      this.isWaiting = false;
      this.fault = typeof mask === "string" ? mask : "";
      this.mask = typeof mask === "string" ? null : mask;
    };

    this.wantedStep = 0;
    if (!(found instanceof RegExp)) {
      if (text.startsWith("/"))
        this.patterns.prepare(functions.name);
      else
        this.patterns.stop();
      take(found);
      return;
    }
    // Until then, show the previous matches if they belong to the same names.
    if (this.mask?.length !== functions.name.length)
      this.mask = null;
    this.fault = "";
    this.isWaiting = true;
    this.patterns.look(functions.name, found, (mask) => {
      take(mask);
      if (this.graph && this.drawn)
        this.choose(this.graph, this.drawn, this.chosen);
      this.onFound(this.wantedStep);
    });
  }

  dispose(): void {
    this.patterns.stop();
  }

  choose(graph: Graph, drawn: Graph, id: number): void {
    if (this.chosen !== id)
      this.reached = "";
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
    this.at = this.placeOf(drawn, this.reached);
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
    if (this.isWaiting && this.chosen < 0) {
      this.wantedStep = by;
      return -1;
    }
    if (!this.graphMask || !this.drawn)
      return -1;
    this.matches ??= matchesOf(this.drawn, this.graphMask);
    if (this.matches.length === 0)
      return -1;
    this.at = this.at < 0 && by < 0 ? this.matches.length - 1 : (this.at + by + this.matches.length) % this.matches.length;
    this.reached = writePath(this.drawn, this.matches[this.at]!);
    return this.matches[this.at]!;
  }

  /** The result of the search as text. */
  get text(): string {
    const { graph, share } = this;

    if (this.fault)
      return shown(this.fault);
    if (this.isWaiting && this.chosen < 0)
      return "searching\u2026";
    if (!share || !graph)
      return "";
    const place = this.at >= 0 && this.matches ? ` \u00b7 ${count(this.at + 1)} of ${count(this.matches.length)}` : "";
    const base = graph.baseTotal
      ? `${percent(share.baseTotal / graph.baseTotal[0]!)} \u2192 ` : "";
    return share.frames === 0 ? "no match"
      : `${base}${percent(share.total / graph.total[0]!)} \u00b7 ${amount(share.total, graph.tree.unit)} \u00b7 ${count(share.frames)} frames${place}`;
  }
}
