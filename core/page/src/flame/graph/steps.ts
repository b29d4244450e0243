/** Keyboard navigation between frames. */
import { levelOf, visibleFrames, type Graph } from "./graph.ts";
import type { Scene } from "./paint.ts";

function widestChild(graph: Graph, index: number): number {
  let widest = -1;

  for (let child = graph.firstChild[index]!; child < graph.firstChild[index + 1]!; child++)
    if (widest < 0 || graph.width[child]! > graph.width[widest]!)
      widest = child;
  return widest;
}

/** The frame that an arrow key or Home goes to; the same frame at an edge; -1 for
 * other keys. Left and right visit only the visible frames of a level. */
export function neighbourFrame(scene: Scene, index: number, key: string, widthPx: number): number {
  const { graph, isFlame, zoom } = scene;

  switch (key) {
    case isFlame ? "ArrowUp" : "ArrowDown": {
      const child = widestChild(graph, index);
      return child < 0 ? index : child;
    }
    case isFlame ? "ArrowDown" : "ArrowUp":
      return index > 0 ? graph.parent[index]! : 0;
    case "ArrowLeft":
    case "ArrowRight": {
      const level = levelOf(graph, index);
      const visible = visibleFrames(graph, zoom, widthPx, level, level + 1).node.filter((node) => node >= 0);
      const neighbour = key === "ArrowLeft" ? visible.filter((node) => node < index).pop() : visible.find((node) => node > index);
      return neighbour ?? index;
    }
    case "Home":
      return zoom;
    default:
      return -1;
  }
}
