/** Draws visible frames on a canvas or into a picture for export. */
import { percent } from "../../parts/format.ts";
import { safeText } from "../../parts/dom.ts";
import type { Functions } from "../../model/tree.ts";
import { fillsOf, type Colouring, type Theme } from "./colour.ts";
import { levelCount, levelOf, type Graph, type Visible } from "./graph.ts";

export const ROW_PX = 20;
export const FONT_PX = 12;
export const FONT_FAMILY = "system-ui, \"Segoe UI\", \"DejaVu Sans\", sans-serif";
const PADDING_PX = 4;
/** Narrower frames have no text, since two letters do not fit. */
const TEXT_MIN_PX = 26;

export interface Scene {
  readonly graph: Graph;
  /** The zoomed frame, which is as wide as the picture. */
  readonly zoom: number;
  /** The name of the root. */
  readonly rootName: string;
  /** Functions to highlight; null highlights none. */
  readonly mask: Uint8Array | null;
  readonly colouring: Colouring;
  readonly theme: Theme;
  readonly isFlame: boolean;
}

export interface Sink {
  rect(x: number, y: number, width: number, height: number, fill: string): void;
  text(text: string, x: number, y: number, widthMax: number, fill: string): void;
}

/** The top of a level's row, in pixels. */
export function topOf(scene: Scene, level: number, levels: number): number {
  return (scene.isFlame ? levels - 1 - level : level) * ROW_PX;
}

/** Number of levels from the root to the deepest descendant of the zoomed frame. */
export function levelsShown(graph: Graph, zoom: number): number {
  let end = zoom + 1;
  let first = zoom;
  let levels = levelOf(graph, zoom);

  while (first < end && levels < levelCount(graph)) {
    first = graph.firstChild[first]!;
    end = graph.firstChild[end]!;
    levels++;
  }
  return levels;
}

let measuring: CanvasRenderingContext2D | null = null;
const measured = new WeakMap<Functions, Float32Array>();

function widthOf(text: string): number {
  measuring ??= document.createElement("canvas").getContext("2d");
  if (!measuring)
    return text.length * FONT_PX * 0.6;
  measuring.font = `${FONT_PX}px ${FONT_FAMILY}`;
  return measuring.measureText(text).width;
}

export function nameOf(scene: { graph: Graph; rootName: string }, index: number): string {
  const id = scene.graph.functionOf[index]!;

  return id < 0 ? scene.rootName : safeText(scene.graph.tree.functions.name[id]!) || "(no name)";
}

/** The text of a frame: its name and its share, or as much as fits into `widthMax` pixels. */
function labelOf(scene: Scene, index: number, widthMax: number): string {
  const { functions } = scene.graph.tree;
  const id = scene.graph.functionOf[index]!;
  const name = nameOf(scene, index);
  let widths = measured.get(functions);

  if (!widths) {
    widths = new Float32Array(functions.name.length);
    measured.set(functions, widths);
  }
  const width = id < 0 ? widthOf(name) : widths[id]! || (widths[id] = widthOf(name));
  if (width <= widthMax) {
    const share = ` (${percent(scene.graph.width[index]! / scene.graph.width[0]!)})`;
    return width + share.length * FONT_PX * 0.62 <= widthMax ? name + share : name;
  }
  const letters = Math.floor((name.length * widthMax) / width) - 1;
  return letters > 0 ? `${name.slice(0, letters)}\u2026` : "";
}

function stylesOf(scene: Scene): (index: number) => readonly [fill: string, text: string] {
  const { theme, mask, colouring, graph, zoom } = scene;
  const fills = fillsOf(theme, colouring.colour);
  const above = new Set<number>();

  for (let node = zoom; node > 0;)
    above.add(node = graph.parent[node]!);
  return (index) => {
    const id = graph.functionOf[index]!;
    if (mask && (id < 0 || !mask[id]))
      return [theme.other, theme.otherText];
    if (above.has(index))
      return [theme.above, theme.aboveText];
    return [fills[colouring.fillOf(index)]!, theme.text];
  };
}

/** Draws frames, moved up by `offset` pixels. */
export function paintFrames(scene: Scene, visible: Visible, levels: number, offset: number, sink: Sink): void {
  const styleOf = stylesOf(scene);

  for (let at = 0; at < visible.node.length; at++) {
    const index = visible.node[at]!;
    const x = visible.x[at]!;
    const y = topOf(scene, visible.level[at]!, levels) - offset;
    if (index < 0) {
      sink.rect(x, y, visible.width[at]!, ROW_PX - 1, scene.theme.run);
      continue;
    }
    // Leave a pixel between neighbours unless the frame is narrow.
    const width = visible.width[at]! - (visible.width[at]! > 3 ? 1 : 0);
    const [fill, colour] = styleOf(index);
    sink.rect(x, y, width, ROW_PX - 1, fill);
    const textWidth = width - 2 * PADDING_PX;
    if (width >= TEXT_MIN_PX) {
      const label = labelOf(scene, index, textWidth);
      if (label)
        sink.text(label, x + PADDING_PX, y + ROW_PX / 2, textWidth, colour);
    }
  }
}
