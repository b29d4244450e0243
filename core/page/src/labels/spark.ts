/** A small timeline for comparison with others, without axes. */
import type { Points } from "../timeline/series.ts";

const HEIGHT_PX = 34;
const TEXT_PX = 11;

/** Draws the values with a scale from 0 to `most`. Gaps stay blank. */
export function drawSpark(canvas: HTMLCanvasElement, points: Points, most: number): void {
  const { values } = points;
  const pen = canvas.getContext("2d")!;
  const ratio = devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const stepPx = width / Math.max(1, values.length);
  const style = getComputedStyle(canvas);

  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(HEIGHT_PX * ratio);
  canvas.style.height = `${HEIGHT_PX}px`;
  pen.scale(ratio, ratio);
  pen.fillStyle = style.outlineColor;
  values.forEach((value, step) => {
    const height = value === null || most <= 0 ? 0 : Math.max(value > 0 ? 1 : 0, value / most * (HEIGHT_PX - TEXT_PX));
    pen.fillRect(step * stepPx, HEIGHT_PX - height, Math.max(1, stepPx), height);
  });
  pen.fillStyle = style.color;
  pen.font = "10px system-ui, sans-serif";
  pen.textBaseline = "top";
  pen.fillText(points.format(most), 0, 0);
}

export function mostOf({ values }: Points): number {
  return values.reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
}
