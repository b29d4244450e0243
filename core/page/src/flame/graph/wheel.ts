/** Zooming with the wheel: steps to the frame under the pointer and back. */
import type { Graph } from "./graph.ts";

/** Frames whose widths differ by less than this look equally wide. */
const SAME_WIDTH = 0.999;
/** Time between two steps, since a wheel or a touchpad sends many events. */
const PAUSE_MS = 120;

/** The next frame on the way from the zoomed frame to `index` that is narrower; `index` if all
 * are equally wide; -1 if `index` is not inside of the zoomed frame. */
export function frameInto(graph: Graph, zoom: number, index: number): number {
  let next = -1;

  for (let node = index; node !== zoom; node = graph.parent[node]!) {
    if (node <= 0)
      return -1;
    if (next < 0 || graph.width[node]! < graph.width[zoom]! * SAME_WIDTH)
      next = node;
  }
  return next;
}

/** The outermost frame that is as wide as `index`. */
export function outermost(graph: Graph, index: number): number {
  let node = index;

  while (node > 0 && graph.width[graph.parent[node]!]! * SAME_WIDTH <= graph.width[index]!)
    node = graph.parent[node]!;
  return node;
}

/** The outermost of the callers with the next width; else the root. */
export function frameOut(graph: Graph, zoom: number): number {
  const equal = outermost(graph, zoom);

  return equal === 0 ? 0 : outermost(graph, graph.parent[equal]!);
}

/** Calls `onStep` for each step of the wheel with Ctrl or Cmd. Without these keys the wheel
 * scrolls. */
export function watchWheel(element: HTMLElement, onStep: (event: WheelEvent, isInto: boolean) => void): void {
  let lastMs = 0;

  element.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey)
      return;
    event.preventDefault();
    if (event.timeStamp - lastMs < PAUSE_MS || event.deltaY === 0)
      return;
    lastMs = event.timeStamp;
    onStep(event, event.deltaY < 0);
  }, { passive: false });
}
