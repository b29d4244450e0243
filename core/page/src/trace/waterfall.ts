/** The waterfall of a trace: a tree grid. Only visible rows are in the document, so that
 * traces of ten thousand spans scroll fast. */
import { h } from "../parts/dom.ts";
import { dragRange } from "../parts/drag.ts";
import { amount } from "../parts/format.ts";
import { ROW_HEIGHT, waterfallRow } from "./bars.ts";
import { visibleOf, type Forest } from "./forest.ts";
import { isWhole, movedPart, partWithin, scaledPart, type Part } from "./part.ts";

const ROWS_BEYOND = 12;
const TICKS = 5;
/** A zoom to a span leaves this share of its duration free on both sides. */
const SPAN_MARGIN = 0.1;
const ZOOM_STEP = 2;
const MOVE_STEP = 0.25;

export interface WaterfallOptions {
  forest: Forest;
  unit: string;
  /** Name of the values: "CPU". */
  valueName: string;
  /** The initially selected branch; -1 for the first. */
  selected: number;
  /** The initially shown time of the trace. */
  part: Part;
  onSelect: (index: number) => void;
  /** Called after each change of the shown time. */
  onPart: (part: Part) => void;
  /** Called for Enter. A click on a name follows its link instead. */
  onOpen: (index: number) => void;
  hrefOf: (index: number) => string;
}

export interface Waterfall {
  readonly element: HTMLElement;
  select(index: number): void;
  selected(): number;
  setClosed(all: boolean): void;
  /** Shows the time of the selected span. */
  zoomToSelected(): void;
  zoomOut(): void;
}

export function waterfall(options: WaterfallOptions): Waterfall {
  return new Grid(options);
}

/** A time with enough digits to tell neighbouring ticks of a part apart. */
export function timeText(ns: number, partNs: number): string {
  if (partNs >= 6e10)
    return amount(ns, "nanoseconds");
  const [size, unit] = ([[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"]] as const).find(([each]) => Math.max(ns, partNs) >= each) ?? [1, "ns"];
  const digits = Math.max(0, Math.min(6, Math.ceil(Math.log10(size / (partNs / TICKS || 1))) + 1));

  return ns === 0 ? "0" : `${(ns / size).toFixed(size === 1 ? 0 : digits)} ${unit}`;
}

class Grid implements Waterfall {
  readonly element: HTMLElement;
  private readonly rows = h("div", { class: "rows", role: "presentation" });
  private readonly scroll: HTMLElement;
  private readonly closed = new Set<number>();
  private visible: number[] = [];
  private readonly axis = h("div", { role: "columnheader", class: "time", "aria-label": "Time since the trace began" });
  private chosen: number;
  private part: Part;
  private drawing = 0;

  constructor(private readonly options: WaterfallOptions) {
    this.chosen = Math.max(0, options.selected);
    this.part = options.part;
    // The grid has the focus, not a row, since rows are removed while scrolling.
    this.scroll = h("div", {
      class: "scroll", role: "treegrid", tabindex: "0", "aria-label": "Spans of the trace", "aria-colcount": "4",
      onkeydown: (event: KeyboardEvent) => { this.key(event); },
      onscroll: () => { this.scheduleDraw(); },
      onclick: (event: MouseEvent) => { this.click(event); },
    }, this.head(), this.rows);
    this.element = h("div", { class: "waterfall" }, this.scroll);
    dragRange(this.element, {
      area: (target) => target.closest(".time"),
      onRange: (from, until) => {
        const { fromNs, untilNs } = this.part;
        this.show(partWithin(fromNs + from * (untilNs - fromNs), (until - from) * (untilNs - fromNs), this.lengthNs));
      },
    });
    this.drawAxis();
    this.arrange();
    new ResizeObserver(() => { this.scheduleDraw(); }).observe(this.scroll);
  }

  select(index: number): void {
    const { branches } = this.options.forest;

    for (let above = branches[index]!.parent; above >= 0; above = branches[above]!.parent)
      this.closed.delete(above);
    this.chosen = index;
    this.arrange();
    this.reveal();
    this.options.onSelect(index);
  }

  selected(): number {
    return this.chosen;
  }

  setClosed(all: boolean): void {
    this.closed.clear();
    this.options.forest.branches.forEach((branch, index) => {
      if (all && branch.descendants)
        this.closed.add(index);
    });
    for (let at = this.chosen; all && at >= 0; at = this.options.forest.branches[at]!.parent)
      this.chosen = at;
    this.arrange();
    this.reveal();
  }

  zoomToSelected(): void {
    const { beginNs, span } = this.options.forest.branches[this.chosen]!;

    this.show(partWithin(beginNs - SPAN_MARGIN * span.durationNs, (1 + 2 * SPAN_MARGIN) * span.durationNs, this.lengthNs));
  }

  zoomOut(): void {
    this.show(partWithin(0, this.lengthNs, this.lengthNs));
  }

  private get lengthNs(): number {
    return this.options.forest.lengthNs;
  }

  private show(part: Part): void {
    this.part = part;
    this.drawAxis();
    this.draw();
    this.options.onPart(part);
  }

  /** Zooms around the middle of the selected span, or of the shown time if the span is
   * outside. */
  private scale(factor: number): void {
    const { beginNs, span } = this.options.forest.branches[this.chosen]!;
    const { fromNs, untilNs } = this.part;
    const middle = beginNs + span.durationNs / 2;
    const isShown = middle >= fromNs && middle <= untilNs;

    this.show(scaledPart(this.part, factor, isShown ? middle : (fromNs + untilNs) / 2, this.lengthNs));
  }

  private move(share: number): void {
    this.show(movedPart(this.part, share, this.lengthNs));
  }

  private head(): HTMLElement {
    return h("div", { class: "head", role: "row", "aria-rowindex": "1" },
      h("div", { role: "columnheader", class: "name" }, "Span"),
      h("div", { role: "columnheader", class: "number", title: "Without child spans" }, `Self ${this.options.valueName}`),
      h("div", { role: "columnheader", class: "number", title: "Including child spans" }, "Total"), this.axis);
  }

  private drawAxis(): void {
    const { fromNs, untilNs } = this.part;
    const ticks = Array.from({ length: TICKS }, (_, tick) => {
      const mark = h("span", { class: "axis-tick" }, timeText(fromNs + (untilNs - fromNs) * tick / TICKS, untilNs - fromNs));
      mark.style.left = `${tick * 100 / TICKS}%`;
      return mark;
    });

    this.axis.replaceChildren(...ticks);
    this.axis.classList.toggle("zoomed", !isWhole(this.part, this.lengthNs));
  }

  private arrange(): void {
    this.visible = visibleOf(this.options.forest, this.closed);
    this.rows.style.height = `${this.visible.length * ROW_HEIGHT}px`;
    this.scroll.setAttribute("aria-rowcount", String(this.visible.length + 1));
    this.draw();
  }

  private scheduleDraw(): void {
    cancelAnimationFrame(this.drawing);
    this.drawing = requestAnimationFrame(() => { this.draw(); });
  }

  private draw(): void {
    const first = Math.max(0, Math.floor(this.scroll.scrollTop / ROW_HEIGHT) - ROWS_BEYOND);
    const last = Math.min(this.visible.length, first + Math.ceil((this.scroll.clientHeight || 600) / ROW_HEIGHT) + 2 * ROWS_BEYOND);
    const rows: HTMLElement[] = [];

    for (let position = first; position < last; position++) {
      const index = this.visible[position]!;
      rows.push(waterfallRow(this.options.forest, index, position,
        { open: !this.closed.has(index), selected: index === this.chosen, unit: this.options.unit, part: this.part, href: this.options.hrefOf(index) }));
    }
    this.rows.replaceChildren(...rows);
    if (rows.some((row) => row.id === `trace-row-${this.chosen}`))
      this.scroll.setAttribute("aria-activedescendant", `trace-row-${this.chosen}`);
    else
      this.scroll.removeAttribute("aria-activedescendant");
  }

  /** Scrolls until the selected row is visible below the header, which covers one row.
   */
  private reveal(): void {
    const top = this.position() * ROW_HEIGHT;
    const height = this.scroll.clientHeight - ROW_HEIGHT;

    if (top < this.scroll.scrollTop)
      this.scroll.scrollTop = top;
    else if (top + ROW_HEIGHT > this.scroll.scrollTop + height)
      this.scroll.scrollTop = top + ROW_HEIGHT - height;
    this.draw();
  }

  private position(): number {
    return Math.max(0, this.visible.indexOf(this.chosen));
  }

  private step(by: number): void {
    const to = Math.max(0, Math.min(this.visible.length - 1, this.position() + by));

    this.select(this.visible[to]!);
  }

  private toggle(index: number): void {
    if (!this.closed.delete(index))
      this.closed.add(index);
    this.arrange();
    this.reveal();
  }

  private onLeft(): void {
    const { descendants: below, parent } = this.options.forest.branches[this.chosen]!;

    if (below && !this.closed.has(this.chosen))
      this.toggle(this.chosen);
    else if (parent >= 0)
      this.select(parent);
  }

  private onRight(): void {
    const { descendants: below } = this.options.forest.branches[this.chosen]!;

    if (below && this.closed.has(this.chosen))
      this.toggle(this.chosen);
    else if (below)
      this.select(this.chosen + 1);
  }

  private key(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.scroll.clientHeight / ROW_HEIGHT) - 2);
    const keys: Readonly<Record<string, () => void>> = {
      ArrowDown: () => { this.step(1); },
      ArrowUp: () => { this.step(-1); },
      ArrowLeft: () => { this.onLeft(); },
      ArrowRight: () => { this.onRight(); },
      PageDown: () => { this.step(page); },
      PageUp: () => { this.step(-page); },
      Home: () => { this.step(-this.visible.length); },
      End: () => { this.step(this.visible.length); },
      Enter: () => { this.options.onOpen(this.chosen); },
      " ": () => { this.options.onSelect(this.chosen); },
      z: () => { this.zoomToSelected(); },
      "0": () => { this.zoomOut(); },
      "+": () => { this.scale(1 / ZOOM_STEP); },
      "-": () => { this.scale(ZOOM_STEP); },
    };
    const shifted: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => { this.move(-MOVE_STEP); },
      ArrowRight: () => { this.move(MOVE_STEP); },
    };
    const all = event.shiftKey && Object.hasOwn(shifted, event.key) ? shifted : keys;
    const run = Object.hasOwn(all, event.key) ? all[event.key] : undefined;

    if (!run || event.ctrlKey || event.altKey || event.metaKey)
      return;
    event.preventDefault();
    run();
  }

  private click(event: MouseEvent): void {
    const at = event.target as Element;
    const row = at.closest<HTMLElement>("[data-index]");
    const index = Number(row?.dataset["index"]);

    if (!row || at.closest("a"))
      return;
    if (at.classList.contains("twist") && this.options.forest.branches[index]!.descendants)
      this.toggle(index);
    else
      this.select(index);
  }
}
