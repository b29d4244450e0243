/** Zooming to a dragged range. */
import { levelOf, nodeAt, type Graph } from "./graph.ts";
import { outermost } from "./wheel.ts";

/** At each end, a range may be longer than the frame by this number of pixels, but not by more
 * than this share of its own length. */
const SLACK_PX = 4;
const SLACK_MAX = 0.25;

/** Returns the smallest frame that contains a range. `from` and `until` are shares of the width
 * of the zoomed frame, from 0 to 1. Of several frames with the same width, returns the outermost
 * one. Returns -1 if this is the zoomed frame. */
export function frameOfRange(graph: Graph, zoom: number, from: number, until: number, widthPx: number): number {
  const slack = Math.min(SLACK_PX / widthPx, (until - from) * SLACK_MAX);
  const left = graph.x[zoom]! + (from + slack) * graph.width[zoom]!;
  const right = graph.x[zoom]! + (until - slack) * graph.width[zoom]!;
  let frame = zoom;

  for (let level = levelOf(graph, zoom) + 1; ; level++) {
    const next = nodeAt(graph, level, left);
    if (next < 0 || graph.x[next]! + graph.width[next]! < right)
      break;
    frame = next;
  }
  const found = outermost(graph, frame);
  return found > zoom ? found : -1;
}
