/** The parts of a flame graph panel, which all follow one set of display options. */
import { ExportMenu } from "../export/menu.ts";
import type { Origin } from "../export/origin.ts";
import { h, renew } from "../parts/dom.ts";
import type { Tree } from "../model/tree.ts";
import { colourOf, LIGHT, watchTheme } from "./colour.ts";
import { copyText } from "./copy.ts";
import { Crumbs } from "./crumbs.ts";
import { derive, shapeOf, type Derived } from "./derive.ts";
import type { Graph } from "./graph.ts";
import { Keys } from "./keys.ts";
import { Legend } from "./legend.ts";
import { changedLook, LOOK_NAMES, type Look } from "./look.ts";
import { Menu } from "./menu.ts";
import { showNotes } from "./notes.ts";
import { nameOf, type Scene } from "./paint.ts";
import type { Panel } from "./panel.ts";
import { Printed } from "./printed.ts";
import { pictureOf, type Picture } from "./picture.ts";
import { nameOfRef, sameFunction } from "./refs.ts";
import { Searching } from "./searching.ts";
import { Table } from "./table.ts";
import { spoken, Tip, type TipSource } from "./tip.ts";
import { chipsOf, Toolbar } from "./toolbar.ts";
import { chipsOfLook, keyTool, toolsOf, type Tools } from "./tools.ts";
import { GraphView } from "./view.ts";
import { emptyText, HELP } from "./words.ts";
import { PARTS, Zooms, type Part } from "./zooms.ts";

const PICTURE_WIDTH_PX = 1200;
const UNDO_MAX = 100;

let panels = 0;

/** The sum of self values; 0 for null. */
function sumOf(values: Float64Array | null): number {
  return values?.reduce((sum, value) => sum + value, 0) ?? 0;
}

export class FlamePanel implements Panel {
  readonly element: HTMLElement;
  private whole: Tree;
  private looked: Look;
  private shape: string;
  private derived: Derived;
  private sums = { whole: 0, wholeBase: 0 };
  private readonly zooms = new Zooms();
  private readonly past: Look[] = [];
  private readonly onLook: (change: Look) => void;
  private readonly id = `flame-${++panels}`;
  private readonly searching = new Searching((step) => { this.found(step); });
  private readonly toolbar: Toolbar;
  private readonly table: Table;
  private readonly views: Record<Part, GraphView>;
  private readonly tip = new Tip();
  private readonly menu = new Menu();
  private readonly keys: Keys;
  private readonly crumbs = new Crumbs((index) => { this.zoom("lower", index); });
  private readonly legend = new Legend();
  private readonly chips = h("div", { class: "flame-chips", role: "group", "aria-label": "Active filters" });
  private readonly live = h("div", { class: "flame-unseen", "aria-live": "polite" });
  private readonly notes = h("p", { class: "faint flame-notes", hidden: true });
  private readonly nothing = h("p", { class: "flame-nothing", hidden: true });
  private readonly body: HTMLElement;
  private readonly leaving = new AbortController();

  constructor(tree: Tree, look: Look, title: string, readonly origin: () => Origin, onLook: (change: Look) => void) {
    this.whole = tree;
    this.looked = changedLook(look, {});
    this.onLook = onLook;
    this.derived = derive(tree, this.looked);
    this.shape = shapeOf(this.looked);
    this.toolbar = new Toolbar({
      change: (change) => { this.change(change); },
      step: (by) => { this.step(by); },
      undo: () => { this.undo(); },
      reset: () => { this.reset(); },
      keys: () => { this.keys.open(); },
    });
    this.keys = new Keys(`${this.id}-keys`);
    this.table = new Table({
      order: (order) => { this.change({ order }); },
      choose: (id) => { this.choose(id); },
      menu: (id, x, y) => { this.openMenu(id, null, x, y, this.table.element); },
      key: (event, id) => this.key(event, id),
    });
    this.views = { lower: this.view("lower", "Flame graph"), upper: this.view("upper", "Callers") };
    this.body = h("div", { class: "flame-body" }, this.table.element,
      h("div", { class: "flame-graphs" }, this.crumbs.element, this.nothing, this.views.upper.element, this.views.lower.element, new Printed(() => this.printed(), this.table, this.leaving.signal).element, this.legend.element));
    this.element = h("section", { class: "flame", "aria-label": title }, this.toolbar.element, this.chips, this.notes, this.body,
      h("p", { class: "flame-unseen", id: `${this.id}-help` }, HELP), this.live, this.tip.element, this.menu.element, this.keys.element);
    this.toolbar.element.lastElementChild!.before(new ExportMenu(this, title).element);
    watchTheme(() => {
      for (const part of PARTS)
        this.views[part].retheme();
      this.showLegend();
    }, this.leaving.signal);
    this.renew();
  }

  setTree(tree: Tree): void {
    this.searching.carry(tree.functions);
    this.whole = tree;
    this.shape = "";
    this.renew();
  }

  setLook(look: Look): void {
    this.looked = changedLook(this.looked, look);
    this.apply();
  }

  look(): Look {
    return { ...this.looked };
  }

  tree(): Tree {
    return this.derived.graph.tree;
  }

  picture(): Picture {
    return pictureOf(this.scenes(), this.views.lower.width || PICTURE_WIDTH_PX);
  }

  private scenes(): Scene[] {
    return PARTS.flatMap((part) => (this.graphOf(part) ? this.views[part].scene() ?? [] : []));
  }

  private printed(): Picture {
    this.showLegend();
    this.legend.flush();
    return pictureOf(this.scenes().map((scene) => ({ ...scene, theme: LIGHT })), PICTURE_WIDTH_PX);
  }

  dispose(): void {
    this.leaving.abort();
    for (const part of [this.searching, this.table, this.legend])
      part.dispose();
    for (const part of PARTS)
      this.views[part].dispose();
    this.element.remove();
  }

  private view(part: Part, label: string): GraphView {
    return new GraphView(label, `${this.id}-help`, {
      zoom: (index) => { this.zoom(part, index); },
      point: (index, x, y) => {
        if (index < 0)
          this.tip.hide();
        else
          this.tip.show(this.tipSource(part), index, x, y);
      },
      reach: (index) => { this.reached(part, index); },
      menu: (index, x, y) => { this.openMenu(this.graphOf(part)!.functionOf[index]!, { part, index }, x, y, this.views[part].element); },
      key: (event, index) => this.key(event, this.graphOf(part)!.functionOf[index]!),
    });
  }

  private graphOf(part: Part): Graph | null {
    return this.derived[part];
  }

  private rootName(): string {
    return this.looked.sandwich ? nameOfRef(this.whole.functions, this.looked.sandwich) : "all";
  }

  private tipSource(part: Part): TipSource {
    return {
      graph: this.graphOf(part)!, rootName: this.rootName(), zoom: this.zooms[part], ...this.sums, isCallers: part === "upper",
    };
  }

  /** Applies a change by the user, after saving the state for undo, and reports it. */
  private change(change: Look): void {
    const isTyping = Object.keys(change).join() === "search" && this.past[this.past.length - 1]?.search !== this.looked.search;

    if (!isTyping || this.past.length === 0)
      this.past.push(this.looked);
    if (this.past.length > UNDO_MAX)
      this.past.shift();
    this.looked = changedLook(this.looked, change);
    this.tip.hide();
    this.apply();
    this.onLook(change);
  }

  private undo(): void {
    const before = this.past.pop();

    if (!before)
      return;
    const change: Look = {};
    for (const name of LOOK_NAMES)
      if (before[name] !== this.looked[name])
        change[name] = before[name] ?? "";
    this.looked = before;
    this.apply();
    this.onLook(change);
  }

  private reset(): void {
    this.searching.chosen = -1;
    this.change({ zoom: "", search: "", focus: "", hide: "", sandwich: "", recursion: "" });
  }

  private zoom(part: Part, index: number): void {
    this.zoomTo(this.zooms.textWith(this.derived, part, index));
  }

  private zoomTo(zoom: string): void {
    if (zoom !== (this.looked.zoom ?? ""))
      this.change({ zoom });
  }

  /** Shows a new tree. */
  private renew(): void {
    showNotes(this.notes, this.whole);
    this.sums = { whole: sumOf(this.whole.self), wholeBase: sumOf(this.whole.baseSelf) };
    this.apply();
  }

  private apply(): void {
    const shape = shapeOf(this.looked);

    if (this.shape !== shape) {
      this.derived = derive(this.whole, this.looked);
      this.shape = shape;
    }
    this.zooms.set(this.derived, this.looked.zoom ?? "");
    this.searching.search(this.derived.graph, this.derived.lower, this.looked.search ?? "");
    this.showGraphs();
    this.showTable();
    this.showTools();
  }

  /** Shows the result of a regular expression search. */
  private found(step: number): void {
    this.showGraphs();
    this.showTable();
    this.showTools();
    this.say(this.searching.text);
    if (step !== 0)
      this.step(step);
  }

  private showGraphs(): void {
    const isEmpty = this.derived.lower.width[0]! <= 0;

    for (const part of PARTS) {
      const graph = this.graphOf(part);
      this.views[part].element.hidden = isEmpty || !graph;
      if (graph)
        this.views[part].set({
          graph, key: `${this.shape} ${this.looked.zoom ?? ""}`, zoom: this.zooms[part], mask: this.searching.graphMask, colour: this.looked.colour, rootName: this.rootName(),
          isFlame: this.looked.sandwich ? part === "upper" : this.looked.layout === "flame",
        });
    }
    this.nothing.hidden = !isEmpty;
    this.nothing.textContent = emptyText(this.whole, this.derived, this.looked);
    this.showLegend();
    this.crumbs.set(this.derived.lower, this.zooms.lower, this.rootName());
    this.body.classList.toggle("flame-diff", this.whole.baseSelf !== null);
    this.body.dataset["shown"] = this.looked.shown ?? "both";
  }

  private showLegend(): void {
    this.legend.set(this.derived.graph, this.derived.rows, colourOf(this.looked.colour, this.whole.baseSelf !== null));
  }

  private showTable(): void {
    const { rows, graph } = this.derived;

    this.table.set({
      source: {
        rows, functions: this.whole.functions, unit: this.whole.unit, whole: graph.total[0]!, wholeBase: graph.baseTotal?.[0] ?? 0,
      },
      mask: this.searching.mask, order: this.looked.order, key: `${this.shape} ${this.looked.search ?? ""}`,
    });
    this.table.mark(this.searching.chosen);
  }

  private showTools(): void {
    this.toolbar.set({
      look: this.looked, scale: this.derived.graph.tree.comparison?.scale ?? null, canUndo: this.past.length > 0,
      found: this.searching.text, isFault: this.searching.fault !== "", matches: this.searching.count,
    });
    renew(this.chips, ...chipsOf(chipsOfLook(this.whole.functions, this.looked), (change) => { this.change(change); }),
      ...this.searching.chosen < 0 ? [] : chipsOf([{ text: `highlighted: ${this.whole.functions.name[this.searching.chosen]!}`, change: {} }],
        () => { this.choose(this.searching.chosen); }));
    this.chips.hidden = this.chips.childElementCount === 0;
  }

  /** Toggles the highlight of a function in the graph. */
  private choose(id: number): void {
    this.searching.choose(this.derived.graph, this.derived.lower, this.searching.chosen === id ? -1 : id);
    this.showGraphs();
    this.table.mark(this.searching.chosen);
    this.showTools();
    this.say(this.searching.text);
  }

  private step(by: number): void {
    const index = this.searching.step(by);

    if (index < 0)
      return;
    const { lower } = this.derived;
    const zoomed = this.zooms.lower;
    const isInside = lower.x[index]! >= lower.x[zoomed]! && lower.x[index]! + lower.width[index]! <= lower.x[zoomed]! + lower.width[zoomed]!;
    const px = (lower.width[index]! / lower.width[zoomed]!) * this.views.lower.width;
    if (!isInside || px < 2)
      this.zoom("lower", lower.parent[index]!);
    this.views.lower.reach(index);
    this.showTools();
  }

  private reached(part: Part, index: number): void {
    const view = this.views[part];
    const source = this.tipSource(part);

    if (document.activeElement === view.element) {
      const { x, y } = view.currentPlace();
      this.tip.show(source, index, x, y);
    }
    this.say(spoken(source, index));
  }

  private say(text: string): void {
    this.live.textContent = text;
  }

  /** The actions refer to the present functions, since an open menu may outlive the displayed tree. */
  private tools(): Tools {
    const { functions } = this.whole;

    return {
      change: (change) => { this.change(change); },
      choose: (id) => { this.choose(sameFunction(this.whole.functions, functions, id)); },
      copy: (id) => {
        const name = functions.name[id]!;
        void copyText(name).then((isCopied) => {
          this.say(isCopied ? "Name copied." : "The browser does not allow copying.");
        });
      },
      look: this.looked,
      functions,
    };
  }

  private openMenu(id: number, frame: { part: Part; index: number } | null, x: number, y: number, from: HTMLElement): void {
    const items = toolsOf(this.tools(), id);

    this.tip.hide();
    const zoom = frame && this.zooms.textWith(this.derived, frame.part, frame.index);
    if (zoom !== null)
      items.unshift({ text: "Zoom to this frame", key: "Enter", act: () => { this.zoomTo(zoom); } });
    items.push({ text: "Reset", key: "r", act: () => { this.reset(); } });
    this.menu.open(items, id < 0 ? this.rootName() : nameOf({ graph: this.derived.graph, rootName: "" }, this.derived.graph.functionOf.indexOf(id)), x, y, from);
  }

  /** Handles the keys that graph and table share. Returns false for other keys. */
  private key(event: KeyboardEvent, id: number): boolean {
    const isUndo = (event.ctrlKey && event.key === "z") || (!event.ctrlKey && event.key === "u");

    if (isUndo)
      this.undo();
    else if (event.ctrlKey)
      return false;
    else if (event.key === "/") {
      this.toolbar.search.focus();
      this.toolbar.search.select();
    } else if (event.key === "n" || event.key === "N")
      this.step(event.key === "n" ? 1 : -1);
    else if (event.key === "r")
      this.reset();
    else if (event.key === "?")
      this.keys.open();
    else if (event.key === "Escape")
      return this.leave();
    else
      return keyTool(this.tools(), event.key, id);
    return true;
  }

  /** Handles Escape: undoes a highlight, zoom or sandwich. Returns false if there is nothing to undo. */
  private leave(): boolean {
    const isTip = !this.tip.element.hidden && this.zooms.lower + this.zooms.upper === 0 && this.searching.chosen < 0;

    this.tip.hide();
    if (this.searching.chosen >= 0)
      this.choose(this.searching.chosen);
    else if (this.looked.zoom)
      this.change({ zoom: "" });
    else if (this.looked.sandwich)
      this.change({ sandwich: "" });
    else
      return isTip;
    return true;
  }
}
