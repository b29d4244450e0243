/** Where the keyboard goes from a frame. */
import { levelOf, visibleFrames, type Graph } from "./graph.ts";
import type { Scene } from "./paint.ts";

function widestChild(graph: Graph, index: number): number {
  let widest = -1;

  for (let child = graph.firstChild[index]!; child < graph.firstChild[index + 1]!; child++)
    if (widest < 0 || graph.width[child]! > graph.width[widest]!)
      widest = child;
  return widest;
}

/** The frame that an arrow key means; the same one at an edge; -1: another key.
 * Left and right go among frames of a level that are wide enough to be seen. */
export function frameBeside(scene: Scene, index: number, key: string, widthPx: number): number {
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
      const seen = visibleFrames(graph, zoom, widthPx, level, level + 1).node.filter((node) => node >= 0);
      const beside = key === "ArrowLeft" ? seen.filter((node) => node < index).pop() : seen.find((node) => node > index);
      return beside ?? index;
    }
    case "Home":
      return zoom;
    default:
      return -1;
  }
}
