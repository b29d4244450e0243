/** One graph on a canvas, with pointer and keyboard input. The canvas has the size of
 * the visible part and is redrawn while scrolling. */
import { h } from "../../parts/dom.ts";
import { dragRange } from "../../parts/drag.ts";
import { colouringOf, themeOf, type Colouring, type Theme } from "./colour.ts";
import { levelOf, nodeAt, visibleFrames, type Graph, type Visible } from "./graph.ts";
import { FONT_FAMILY, FONT_PX, levelsShown, paintFrames, ROW_PX, topOf, type Scene, type Sink } from "./paint.ts";
import { readPath, writePath } from "../stacks/refs.ts";
import { frameOfRange } from "./range.ts";
import { neighbourFrame } from "./steps.ts";
import { frameInto, frameOut, watchWheel } from "./wheel.ts";

export interface ViewEvents {
  /** Called when the user zooms to a frame; 0 is the root. */
  zoom(index: number): void;
  /** Called when the pointer has moved: over this frame, -1 if there is none, at this
   * position of the window. */
  hover(index: number, x: number, y: number): void;
  /** Called when the keyboard has moved to a frame. */
  reach(index: number): void;
  menu(index: number, x: number, y: number): void;
  /** Handles other keys. Returns false for unknown ones. */
  key(event: KeyboardEvent, index: number): boolean;
}

export interface ViewState {
  readonly graph: Graph;
  readonly zoom: number;
  readonly mask: Uint8Array | null;
  readonly colour: string | undefined;
  readonly isFlame: boolean;
  readonly rootName: string;
  /** The function that the root stands for; -1 if the root stands for all. */
  readonly rootId: number;
  /** Identifies the set of frames and the zoom. When it changes, the view scrolls to the zoomed frame. */
  readonly key: string;
}

export class GraphView {
  readonly space = h("div", { class: "flame-space" });
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { class: "flame-canvas", "aria-hidden": "true" });
  private readonly events: ViewEvents;
  private readonly observer: ResizeObserver;
  private state: ViewState | null = null;
  private colouring: Colouring | null = null;
  private theme: Theme | null = null;
  private current = 0;
  private levels = 0;
  private frame = 0;
  private isPlaced = false;

  constructor(label: string, describedBy: string, events: ViewEvents) {
    this.events = events;
    this.element = h("div", {
      class: "flame-scroll", tabindex: 0, role: "application", "aria-label": label,
      "aria-roledescription": "flame graph", "aria-describedby": describedBy,
    }, this.space);
    this.space.append(this.canvas);
    this.observer = new ResizeObserver(() => {
      this.place();
      if (!this.isDrawn())
        this.paint();
    });
    this.observer.observe(this.element);
    this.listen();
  }

  /** Shows a graph. The current frame of the keyboard is kept if it exists. */
  set(state: ViewState): void {
    const before = this.state;
    const isOther = before?.key !== state.key || before.isFlame !== state.isFlame;
    const belowPx = this.levels * ROW_PX - this.element.scrollTop;

    this.state = state;
    if (before?.graph !== state.graph || before.colour !== state.colour || before.rootId !== state.rootId)
      this.colouring = colouringOf(state.graph, state.colour, state.rootId);
    this.levels = levelsShown(state.graph, state.zoom);
    this.space.style.height = `${this.levels * ROW_PX}px`;
    if (before && before.graph !== state.graph && this.current > 0)
      this.current = readPath(state.graph, writePath(before.graph, this.current));
    if (isOther && before?.zoom !== state.zoom && state.zoom > 0)
      this.current = state.zoom;
    if (isOther)
      this.scrollTo(state.zoom, 4);
    else if (state.isFlame)
      this.element.scrollTop = this.levels * ROW_PX - belowPx;
    this.repaint();
  }

  /** Redraws with the colours of a changed theme. */
  retheme(): void {
    this.theme = null;
    this.repaint();
  }

  scene(): Scene | null {
    if (!this.state || !this.colouring)
      return null;
    this.theme ??= themeOf(document.body);
    return { ...this.state, colouring: this.colouring, theme: this.theme };
  }

  get width(): number {
    return this.element.clientWidth;
  }

  /** Moves the keyboard to a frame and scrolls to it. */
  reach(index: number): void {
    this.current = index;
    this.scrollTo(index, 1);
    this.repaint();
    this.events.reach(index);
  }

  get reached(): number {
    return this.current;
  }

  dispose(): void {
    this.observer.disconnect();
    cancelAnimationFrame(this.frame);
  }

  /** The position of the current frame in the window. */
  currentPlace(): { x: number; y: number } {
    const box = this.element.getBoundingClientRect();
    const { graph, zoom } = this.state!;
    const x = Math.max(0, (graph.x[this.current]! - graph.x[zoom]!) / graph.width[zoom]!) * box.width;
    const y = topOf(this.scene()!, levelOf(graph, this.current), this.levels) - this.element.scrollTop;

    return { x: box.left + Math.min(x, box.width), y: box.top + Math.min(Math.max(0, y), box.height) + ROW_PX };
  }

  /** Scrolls to the zoomed frame when the view gets a height: the first state may come before. */
  private place(): void {
    if (this.isPlaced || !this.state || this.element.clientHeight === 0)
      return;
    this.isPlaced = true;
    this.scrollTo(this.state.zoom, 4);
  }

  private scrollTo(index: number, margin: number): void {
    const scene = this.scene();
    const height = this.element.clientHeight;

    if (!scene)
      return;
    const top = topOf(scene, levelOf(scene.graph, index), this.levels);
    const marginPx = margin * ROW_PX;
    if (top - marginPx < this.element.scrollTop || top + ROW_PX + marginPx > this.element.scrollTop + height)
      this.element.scrollTop = scene.isFlame && index === 0 ? this.levels * ROW_PX : Math.max(0, top - marginPx);
  }

  private repaint(): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => { this.paint(); });
  }

  private size(): { width: number; height: number; ratio: number } {
    return { width: this.element.clientWidth, height: Math.min(this.levels * ROW_PX, this.element.clientHeight), ratio: devicePixelRatio || 1 };
  }

  /** Returns whether the canvas was drawn with the current size of the visible part. */
  private isDrawn(): boolean {
    const { width, height, ratio } = this.size();

    return this.canvas.width === Math.round(width * ratio) && this.canvas.height === Math.round(height * ratio);
  }

  private paint(): void {
    const scene = this.scene();
    const context = this.canvas.getContext("2d", { alpha: false });
    const { width, height, ratio } = this.size();

    if (!scene || !context || width === 0 || height === 0)
      return;
    if (!this.isDrawn()) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = scene.theme.background;
    context.fillRect(0, 0, width, height);
    const offset = this.element.scrollTop;
    const visible = this.visible(scene, width, offset, height);
    context.font = `${FONT_PX}px ${FONT_FAMILY}`;
    context.textBaseline = "middle";
    context.direction = "ltr";
    paintFrames(scene, visible, this.levels, offset, sinkOf(context));
    if (document.activeElement === this.element)
      drawFocusRing(context, scene, visible, this.current, this.levels, offset);
  }

  private visible(scene: Scene, width: number, offset: number, height: number): Visible {
    const first = Math.floor(offset / ROW_PX);
    const last = Math.ceil((offset + height) / ROW_PX);

    return scene.isFlame
      ? visibleFrames(scene.graph, scene.zoom, width, this.levels - last, Math.min(this.levels, this.levels - first))
      : visibleFrames(scene.graph, scene.zoom, width, first, Math.min(this.levels, last));
  }

  private listen(): void {
    const { element, canvas, events } = this;

    element.addEventListener("scroll", () => {
      events.hover(-1, 0, 0);
      this.repaint();
    });
    element.addEventListener("focus", () => {
      this.repaint();
      // On keyboard focus, announce the current frame to screen readers.
      if (this.state && element.matches(":focus-visible"))
        events.reach(this.current);
    });
    element.addEventListener("blur", () => {
      events.hover(-1, 0, 0);
      this.repaint();
    });
    canvas.addEventListener("pointermove", (event) => {
      const index = this.at(event);
      canvas.style.cursor = index < 0 ? "default" : "pointer";
      events.hover(index, event.clientX, event.clientY);
    });
    canvas.addEventListener("pointerleave", () => { events.hover(-1, 0, 0); });
    canvas.addEventListener("click", (event) => {
      const index = this.at(event);
      if (index >= 0 && event.detail < 2)
        events.zoom(index);
    });
    watchWheel(canvas, (event, isInto) => {
      const { graph, zoom } = this.state!;
      const index = isInto ? frameInto(graph, zoom, this.at(event)) : frameOut(graph, zoom);
      if (index >= 0)
        events.zoom(index);
    });
    this.listenToDrags();
    canvas.addEventListener("dblclick", () => { events.zoom(0); });
    element.addEventListener("contextmenu", (event) => { this.onMenu(event); });
    element.addEventListener("keydown", (event) => { this.onKey(event); });
  }

  /** A drag zooms to the smallest frame that contains the range. The tip shows this frame. */
  private listenToDrags(): void {
    const { canvas, events } = this;
    const frameOf = (from: number, until: number): number => frameOfRange(this.state!.graph, this.state!.zoom, from, until, this.width);

    dragRange(this.space, {
      area: (target) => target === canvas ? canvas : null,
      onMove: (from, until, event) => { events.hover(frameOf(from, until), event.clientX, event.clientY); },
      onRange: (from, until) => {
        const index = frameOf(from, until);
        if (index >= 0)
          events.zoom(index);
      },
      onEnd: () => { events.hover(-1, 0, 0); },
    });
  }

  private at(event: MouseEvent): number {
    const { graph, zoom, isFlame } = this.state!;
    const box = this.canvas.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top + this.element.scrollTop) / ROW_PX);
    const place = graph.x[zoom]! + ((event.clientX - box.left) / box.width) * graph.width[zoom]!;

    return nodeAt(graph, isFlame ? this.levels - 1 - row : row, place);
  }

  /** Opens the menu for the pointer or for the keyboard's menu key. */
  private onMenu(event: MouseEvent): void {
    // The menu key's event goes to the focused element, which is never the canvas.
    // event.button does not tell pointer and key apart, since a long press and
    // Ctrl-click do not have the number of the right button.
    const isPointer = event.target === this.canvas;
    const index = isPointer ? this.at(event) : this.current;
    const place = isPointer ? { x: event.clientX, y: event.clientY } : this.currentPlace();

    event.preventDefault();
    if (index >= 0)
      this.events.menu(index, place.x, place.y);
  }

  private onKey(event: KeyboardEvent): void {
    const scene = this.scene();

    if (!scene || event.altKey || event.metaKey)
      return;
    const next = event.ctrlKey ? -1 : neighbourFrame(scene, this.current, event.key, this.width);
    if (next >= 0)
      this.reach(next);
    else if (event.key === "Enter" && !event.ctrlKey)
      this.events.zoom(this.current);
    else if (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) {
      const { x, y } = this.currentPlace();
      this.events.menu(this.current, x, y);
    } else if (!this.events.key(event, this.current))
      return;
    event.preventDefault();
  }
}

function sinkOf(context: CanvasRenderingContext2D): Sink {
  let current = "";
  // An assignment to fillStyle is slow, even if the colour does not change.
  const use = (fill: string): void => {
    if (fill !== current)
      context.fillStyle = current = fill;
  };

  return {
    rect: (x, y, width, height, fill) => {
      use(fill);
      context.fillRect(x, y, width, height);
    },
    text: (text, x, y, widthMax, fill) => {
      use(fill);
      context.fillText(text, x, y, widthMax);
    },
  };
}

function drawFocusRing(context: CanvasRenderingContext2D, scene: Scene, visible: Visible, current: number, levels: number, offset: number): void {
  const at = visible.node.indexOf(current);

  if (at < 0)
    return;
  // Use the colours of text and background, since each fill contrasts with one of them.
  const y = topOf(scene, visible.level[at]!, levels) - offset;
  for (const [inset, width, colour] of [[1, 2, scene.theme.text], [2.5, 1, scene.theme.background]] as const) {
    context.lineWidth = width;
    context.strokeStyle = colour;
    context.strokeRect(visible.x[at]! + inset, y + inset, Math.max(2, visible.width[at]! - 2 * inset), ROW_PX - 1 - 2 * inset);
  }
}
