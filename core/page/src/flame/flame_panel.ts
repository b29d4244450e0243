/** The parts of a flame graph panel, which all follow one set of display options. */
import { ExportMenu } from "../export/menu.ts";
import type { Origin } from "../export/origin.ts";
import { LinesPanel } from "../lines/panel.ts";
import { shownFunction } from "../lines/shown.ts";
import { h, replaceContent } from "../parts/dom.ts";
import type { Tree } from "../model/tree.ts";
import { colourOf, LIGHT, watchTheme } from "./graph/colour.ts";
import { copyText } from "./copy.ts";
import { Crumbs } from "./graph/crumbs.ts";
import { derive, shapeOf, sumsOf, type Derived } from "./stacks/derive.ts";
import type { Graph } from "./graph/graph.ts";
import { Halves } from "./graph/halves.ts";
import { Keys } from "./keys.ts";
import { Legend } from "./graph/legend.ts";
import { changedOptions, type DisplayOptions } from "./display.ts";
import { History } from "./history.ts";
import { Minimap } from "./graph/minimap.ts";
import { Menu } from "./menu.ts";
import { foreignNote, notesOf, showNotes } from "./stacks/notes.ts";
import { nameOf, type Scene } from "./graph/paint.ts";
import type { Panel } from "./panel.ts";
import { Printed } from "./table/printed.ts";
import { pictureOf, type Picture } from "./graph/picture.ts";
import { idOfRef, nameOfRef, sameFunction } from "./stacks/refs.ts";
import { runShortcut } from "./shortcuts.ts";
import { PanelSearch } from "./stacks/panel_search.ts";
import { Table } from "./table/table.ts";
import { descriptionOf, Tip, type TipSource } from "./graph/tip.ts";
import { chipsOf, Toolbar } from "./toolbar.ts";
import { filterChips, runKey, toolsOf, type Tools } from "./tools.ts";
import { GraphView } from "./graph/view.ts";
import { emptyText, HELP } from "./texts.ts";
import { PARTS, Zooms, type Part } from "./graph/zooms.ts";

const PICTURE_WIDTH_PX = 1200;
let panels = 0;

export class FlamePanel implements Panel {
  readonly element: HTMLElement;
  private whole: Tree;
  private options: DisplayOptions;
  private shape: string;
  private derived: Derived;
  private wholeNotes: readonly string[] = [];
  private sums = { whole: 0, wholeBase: 0 };
  private readonly zooms = new Zooms();
  private readonly history = new History();
  private readonly onDisplayChange: (change: DisplayOptions) => void;
  private readonly id = `flame-${++panels}`;
  private readonly search = new PanelSearch((step) => { this.searchCompleted(step); });
  private readonly toolbar: Toolbar;
  private readonly table: Table;
  private readonly views: Record<Part, GraphView>;
  private readonly tip = new Tip();
  private readonly menu = new Menu();
  private readonly keys: Keys;
  private readonly crumbs = new Crumbs((index) => { this.zoom("lower", index); });
  private readonly minimap = new Minimap((index) => { this.zoom("lower", index); });
  private readonly legend = new Legend();
  private readonly chips = h("div", { class: "flame-chips", role: "group", "aria-label": "Active filters" });
  private readonly announcer = h("div", { class: "flame-unseen", "aria-live": "polite" });
  private readonly notes = h("p", { class: "faint flame-notes", hidden: true });
  private readonly emptyNote = h("p", { class: "flame-nothing", hidden: true });
  private readonly halves = new Halves();
  private readonly body: HTMLElement;
  private readonly abort = new AbortController();
  private readonly lines = new LinesPanel({ close: () => { this.change({ lines: "" }); }, announce: (text) => { this.announce(text); } }, this.abort.signal);

  constructor(tree: Tree, display: DisplayOptions, title: string, readonly origin: () => Origin, onDisplayChange: (change: DisplayOptions) => void) {
    this.whole = tree;
    this.options = changedOptions(display, {});
    this.onDisplayChange = onDisplayChange;
    this.derived = derive(tree, this.options);
    this.shape = shapeOf(this.options);
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
      select: (id) => { this.choose(id); },
      menu: (id, x, y) => { this.openMenu(id, null, x, y, this.table.element); },
      key: (event, id) => this.key(event, id),
    });
    this.views = { lower: this.view("lower", "Flame graph"), upper: this.view("upper", "Callers") };
    this.body = h("div", { class: "flame-body" }, this.table.element,
      h("div", { class: "flame-graphs" }, this.minimap.element, this.crumbs.element, this.emptyNote, this.halves.upper, this.views.upper.element,
        this.halves.lower, this.views.lower.element, new Printed(() => this.printed(), this.table, this.abort.signal).element, this.legend.element));
    this.element = h("section", { class: "flame", "aria-label": title }, this.toolbar.element, this.chips, this.notes, h("div", { class: "flame-room" }, this.body), this.lines.element,
      h("p", { class: "flame-unseen", id: `${this.id}-help` }, HELP), this.announcer, this.tip.element, this.menu.element, this.keys.element);
    this.toolbar.element.lastElementChild!.before(new ExportMenu(this, title).element);
    watchTheme(() => {
      for (const part of PARTS)
        this.views[part].retheme();
      this.showLegend();
    }, this.abort.signal);
    this.showTree();
  }

  setTree(tree: Tree): void {
    this.search.prepareFor(tree.functions);
    this.whole = tree;
    this.shape = "";
    this.showTree();
  }

  setDisplay(display: DisplayOptions): void {
    this.options = changedOptions(this.options, display);
    this.apply();
  }

  display(): DisplayOptions {
    return { ...this.options };
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
    this.abort.abort();
    for (const part of [this.search, this.table, this.legend])
      part.dispose();
    for (const part of PARTS)
      this.views[part].dispose();
  }

  private view(part: Part, label: string): GraphView {
    return new GraphView(label, `${this.id}-help`, {
      zoom: (index) => { this.zoom(part, index); },
      hover: (index, x, y) => {
        if (index < 0)
          this.tip.hide();
        else
          this.tip.show(this.tipSource(part), index, x, y);
      },
      reach: (index) => { this.frameReached(part, index); },
      menu: (index, x, y) => { this.openMenu(this.graphOf(part)!.functionOf[index]!, { part, index }, x, y, this.views[part].element); },
      key: (event, index) => this.key(event, this.graphOf(part)!.functionOf[index]!),
    });
  }

  private graphOf(part: Part): Graph | null {
    return this.derived[part];
  }

  private rootName(): string {
    return this.options.sandwich ? nameOfRef(this.whole.functions, this.options.sandwich) : "all";
  }

  private tipSource(part: Part): TipSource {
    return {
      graph: this.graphOf(part)!, rootName: this.rootName(), zoom: this.zooms[part], ...this.sums, isCallers: part === "upper",
    };
  }

  /** Applies a change by the user, after saving the state for undo, and reports it. */
  private change(change: DisplayOptions): void {
    this.history.add(this.options, change);
    this.options = changedOptions(this.options, change);
    this.tip.hide();
    this.apply();
    if (change.sandwich)
      this.halves.upper.parentElement!.scrollIntoView({ block: "nearest" });
    if (change.lines)
      this.lines.reach();
    this.onDisplayChange(change);
  }

  private undo(): void {
    const change = this.history.undo(this.options);

    if (!change)
      return;
    this.options = changedOptions(this.options, change);
    this.apply();
    this.onDisplayChange(change);
  }

  private reset(): void {
    this.search.highlighted = -1;
    this.change({ zoom: "", search: "", focus: "", hide: "", mine: "", sandwich: "", recursion: "" });
  }

  private zoom(part: Part, index: number): void {
    this.zoomTo(this.zooms.textWith(this.derived, part, index));
  }

  private zoomTo(zoom: string): void {
    if (zoom !== (this.options.zoom ?? ""))
      this.change({ zoom });
  }

  /** Shows a new tree. */
  private showTree(): void {
    this.wholeNotes = notesOf(this.whole);
    this.sums = sumsOf(this.whole);
    this.apply();
  }

  private apply(): void {
    const shape = shapeOf(this.options);

    if (this.shape !== shape) {
      this.derived = derive(this.whole, this.options);
      this.shape = shape;
    }
    showNotes(this.notes, [...this.wholeNotes, this.options.mine === "1" && this.derived.hasForeign ? foreignNote(this.derived.graph) : ""]);
    this.zooms.set(this.derived, this.options.zoom ?? "");
    this.search.search(this.derived.graph, this.derived.lower, this.options.search ?? "");
    this.showGraphs();
    this.showTable();
    this.showTools();
    this.lines.set(shownFunction(this.whole.functions, this.options, this.origin().functionLines));
  }

  /** Shows the result of a regular expression search. */
  private searchCompleted(step: number): void {
    this.showGraphs();
    this.showTable();
    this.showTools();
    this.announce(this.search.text);
    if (step !== 0)
      this.step(step);
  }

  private showGraphs(): void {
    const isEmpty = this.derived.lower.width[0]! <= 0;
    const rootId = this.options.sandwich ? idOfRef(this.whole.functions, this.options.sandwich) : -1;

    this.body.classList.toggle("flame-sandwich", this.derived.upper !== null);
    for (const part of PARTS) {
      const graph = this.graphOf(part);
      this.views[part].element.hidden = isEmpty || !graph;
      if (graph)
        this.views[part].set({
          graph, key: `${this.shape} ${this.options.zoom ?? ""}`, zoom: this.zooms[part], mask: this.search.graphMask, colour: this.options.colour, rootName: this.rootName(), rootId,
          isFlame: this.options.sandwich ? part === "upper" : this.options.layout === "flame",
        });
    }
    this.halves.set(!isEmpty && this.derived.upper !== null, this.rootName());
    this.emptyNote.hidden = !isEmpty;
    this.emptyNote.textContent = emptyText(this.whole, this.derived, this.options);
    this.showLegend();
    this.minimap.set(isEmpty ? null : this.views.lower.scene());
    this.crumbs.set(this.derived.lower, this.zooms.lower, this.rootName());
    this.body.classList.toggle("flame-diff", this.whole.baseSelf !== null);
    this.body.dataset["shown"] = this.options.shown ?? "both";
  }

  private showLegend(): void {
    this.legend.set(this.derived.lower, this.zooms.lower, this.views.lower.width || PICTURE_WIDTH_PX, colourOf(this.options.colour, this.whole.baseSelf !== null));
  }

  private showTable(): void {
    const { rows, graph } = this.derived;

    this.table.set({
      source: {
        rows, functions: this.whole.functions, unit: this.whole.unit, whole: graph.total[0]!, wholeBase: graph.baseTotal?.[0] ?? 0,
      },
      mask: this.search.mask, order: this.options.order, key: `${this.shape} ${this.options.search ?? ""}`,
    });
    this.table.mark(this.search.highlighted);
  }

  private showTools(): void {
    this.toolbar.set({
      display: this.options, scale: this.derived.graph.tree.comparison?.scale ?? null, canUndo: this.history.canUndo, hasForeign: this.derived.hasForeign,
      found: this.search.text, isFault: this.search.fault !== "", matches: this.search.count,
    });
    replaceContent(this.chips, ...chipsOf(filterChips(this.whole.functions, this.options), (change) => { this.change(change); }),
      ...this.search.highlighted < 0 ? [] : chipsOf([{ text: `highlighted: ${this.whole.functions.name[this.search.highlighted]!}`, change: {} }],
        () => { this.choose(this.search.highlighted); }));
    this.chips.hidden = this.chips.childElementCount === 0;
  }

  /** Toggles the highlight of a function in the graph. */
  private choose(id: number): void {
    this.search.highlight(this.derived.graph, this.derived.lower, this.search.highlighted === id ? -1 : id);
    this.showGraphs();
    this.table.mark(this.search.highlighted);
    this.showTools();
    this.announce(this.search.text);
  }

  private step(by: number): void {
    const index = this.search.step(by);

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

  private frameReached(part: Part, index: number): void {
    const view = this.views[part];
    const source = this.tipSource(part);

    if (document.activeElement === view.element) {
      const { x, y } = view.currentPlace();
      this.tip.show(source, index, x, y);
    }
    this.announce(descriptionOf(source, index));
  }

  private announce(text: string): void {
    this.announcer.textContent = text;
  }

  /** Returns the actions on functions. Their ids refer to the functions shown now, even
   * if another tree is shown when the user chooses an action. */
  private tools(): Tools {
    const { functions } = this.whole;

    return {
      change: (change) => { this.change(change); },
      choose: (id) => { this.choose(sameFunction(this.whole.functions, functions, id)); },
      copy: (id) => {
        void copyText(functions.name[id]!).then((isCopied) => { this.announce(isCopied ? "Name copied." : "The browser does not allow copying."); });
      },
      display: this.options,
      functions,
      hasLines: this.origin().functionLines !== null,
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

  private key(event: KeyboardEvent, id: number): boolean {
    return runShortcut(event, {
      undo: () => { this.undo(); },
      search: () => {
        this.toolbar.search.focus();
        this.toolbar.search.select();
      },
      step: (by) => { this.step(by); },
      reset: () => { this.reset(); },
      help: () => { this.keys.open(); },
      escape: () => this.escape(),
      run: (key) => runKey(this.tools(), key, id),
    });
  }

  /** Handles Escape: undoes a highlight, zoom or sandwich. Returns false if there is nothing to undo. */
  private escape(): boolean {
    const isTip = !this.tip.element.hidden && this.zooms.lower + this.zooms.upper === 0 && this.search.highlighted < 0;

    this.tip.hide();
    if (this.search.highlighted >= 0)
      this.choose(this.search.highlighted);
    else if (this.options.zoom)
      this.change({ zoom: "" });
    else if (this.options.sandwich)
      this.change({ sandwich: "" });
    else
      return isTip;
    return true;
  }
}
