/** A small flame graph for comparison with others: the widest frames of the first
 * levels. */
import { themeOf } from "../flame/graph/colour.ts";
import { packageFill } from "../flame/graph/groups.ts";
import { packageOf } from "../flame/stacks/package.ts";
import type { Tree } from "../model/tree.ts";
import { totalsOf } from "../model/tree.ts";
import { safeText } from "../parts/dom.ts";

const ROW_PX = 15;
const ROWS_MAX = 12;
const TEXT_FROM_PX = 36;
/** Narrower frames and their children are not drawn. */
const FRAME_MIN_PX = 0.7;
const TEXT_MAX = 80;

export interface Frame {
  name: string;
  file: string;
  row: number;
  left: number;
  width: number;
}

/** The visible frames if `root` is `width` pixels wide. Other nodes than the root of the
 * tree are drawn themselves, too. */
export function framesOf(tree: Tree, width: number, root = 0): Frame[] {
  const totals = totalsOf(tree.parent, tree.self);
  const scale = width / (totals[root] || 1);
  const count = tree.parent.length;
  const row = new Int32Array(count).fill(-1);
  const left = new Float64Array(count);
  /** The left edge of each node's next child. */
  const next = new Float64Array(count);
  const frames: Frame[] = [];
  const push = (node: number, frameWidth: number): void => {
    const id = tree.functionOf[node]!;
    frames.push({ name: tree.functions.name[id] ?? "", file: tree.functions.file[id] ?? "", row: row[node]! - 1, left: left[node]!, width: frameWidth });
  };

  row[root] = root === 0 ? 0 : 1;
  for (let node = 1; node < count; node++) {
    const parent = tree.parent[node]!;
    const frameWidth = totals[node]! * scale;

    if (node === root) {
      push(node, frameWidth);
      continue;
    }
    left[node] = next[node] = next[parent]!;
    next[parent] = next[parent]! + frameWidth;
    if (row[parent]! < 0 || row[parent]! >= ROWS_MAX || frameWidth < FRAME_MIN_PX)
      continue;
    row[node] = row[parent]! + 1;
    push(node, frameWidth);
  }
  return frames;
}

function paint(canvas: HTMLCanvasElement, frames: readonly Frame[], width: number): void {
  const pen = canvas.getContext("2d")!;
  const rows = frames.reduce((most, { row }) => Math.max(most, row + 1), 1);
  const ratio = devicePixelRatio || 1;
  const theme = themeOf(canvas);

  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(rows * ROW_PX * ratio);
  canvas.style.height = `${rows * ROW_PX}px`;
  pen.scale(ratio, ratio);
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "middle";
  for (const { name, file, row, left, width: frameWidth } of frames) {
    const top = row * ROW_PX;

    pen.fillStyle = theme.packages[packageFill(packageOf(name, file))]!;
    pen.fillRect(left, top, Math.max(0.5, frameWidth - 0.5), ROW_PX - 1);
    if (frameWidth < TEXT_FROM_PX)
      continue;
    pen.save();
    pen.beginPath();
    pen.rect(left, top, frameWidth - 3, ROW_PX);
    pen.clip();
    pen.fillStyle = theme.text;
    pen.fillText(safeText(name, TEXT_MAX), left + 3, top + ROW_PX / 2);
    pen.restore();
  }
}

export function drawMini(canvas: HTMLCanvasElement, tree: Tree, root: number): void {
  const width = canvas.clientWidth;

  if (width > 0)
    paint(canvas, framesOf(tree, width, root), width);
}
