/** The whole graph in a small strip above a zoomed graph. The strip marks the zoomed frame, and
 * a click zooms to another frame. The keyboard has the breadcrumbs for this. */
import { h } from "../../parts/dom.ts";
import { fillsOf } from "./colour.ts";
import { levelCount, nodeAt, visibleFrames } from "./graph.ts";
import type { Scene } from "./paint.ts";

const HEIGHT_PX = 44;
/** Deeper frames are left out. */
const LEVELS_MAX = 44;
/** Columns of the canvas for each CSS pixel. A low resolution is enough, because the
 * overview contains no text. */
const RESOLUTION = 0.5;

export class Minimap {
  private readonly canvas = h("canvas", { class: "flame-minimap-canvas" });
  private readonly mark = h("div", { class: "flame-minimap-mark" });
  readonly element = h("div", { class: "flame-minimap", hidden: true, "aria-hidden": "true", title: "Overview: click to zoom to another frame" }, this.canvas, this.mark);
  private scene: Scene | null = null;

  constructor(onZoom: (index: number) => void) {
    this.canvas.addEventListener("click", (event) => {
      const index = this.at(event);
      if (index >= 0)
        onZoom(index);
    });
  }

  /** Shows the strip if a frame is zoomed. */
  set(scene: Scene | null): void {
    const isDrawn = this.scene?.graph === scene?.graph && this.scene?.colouring === scene?.colouring && this.scene?.theme === scene?.theme && !this.element.hidden;

    this.scene = scene;
    this.element.hidden = !scene || scene.zoom === 0;
    if (!scene || this.element.hidden)
      return;
    const { graph, zoom } = scene;
    this.mark.style.left = `${graph.x[zoom]! / graph.width[0]! * 100}%`;
    this.mark.style.width = `${graph.width[zoom]! / graph.width[0]! * 100}%`;
    // The graph is drawn first.
    if (!isDrawn)
      setTimeout(() => { this.draw(scene); });
  }

  private get levels(): number {
    return Math.min(LEVELS_MAX, levelCount(this.scene!.graph));
  }

  private draw({ graph, colouring, theme }: Scene): void {
    const context = this.canvas.getContext("2d", { alpha: false });
    const widthPx = Math.ceil(this.element.clientWidth * RESOLUTION);
    const fills = fillsOf(theme, colouring.colour);
    const rowPx = HEIGHT_PX / this.levels;

    if (!context || widthPx === 0)
      return;
    this.canvas.width = widthPx;
    this.canvas.height = HEIGHT_PX;
    context.fillStyle = theme.background;
    context.fillRect(0, 0, widthPx, HEIGHT_PX);
    const visible = visibleFrames(graph, 0, widthPx, 0, this.levels);
    visible.node.forEach((index, at) => {
      context.fillStyle = index < 0 ? theme.run : fills[colouring.fillOf(index)]!;
      context.fillRect(visible.x[at]!, visible.level[at]! * rowPx, visible.width[at]!, rowPx);
    });
  }

  /** The frame at the pointer, or its innermost caller there. */
  private at(event: MouseEvent): number {
    const box = this.canvas.getBoundingClientRect();
    const { graph } = this.scene!;
    const place = (event.clientX - box.left) / box.width * graph.width[0]!;
    let level = Math.floor((event.clientY - box.top) / box.height * this.levels);

    while (level > 0 && nodeAt(graph, level, place) < 0)
      level--;
    return nodeAt(graph, level, place);
  }
}
