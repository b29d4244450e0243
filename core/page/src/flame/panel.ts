/** The flame graph panel, which all views use: graph, table, search and tools.
 *
 * The panel keeps the whole tree in memory. Self and total values are sums over all
 * nodes, including those too narrow to be drawn. */
import type { Tree } from "../model/tree.ts";
import type { Origin } from "../export/origin.ts";
import { FlamePanel } from "./flame_panel.ts";
import type { DisplayOptions } from "./display.ts";
import type { Picture } from "./graph/picture.ts";

export type { DisplayOptions } from "./display.ts";
export { canvasOf, svgOf, type Picture } from "./graph/picture.ts";

export interface PanelOptions {
  tree: Tree;
  /** The initial display options. Other parameters of an address are ignored. */
  display: DisplayOptions;
  /** Called when the user changes display options, with the changed ones. "" removes an option. */
  onDisplayChange: (change: DisplayOptions) => void;
  /** The title of exports and their file name without extension. */
  title: string;
  /** The origin of the stacks shown at present. */
  origin: () => Origin;
}

export interface Panel {
  readonly element: HTMLElement;
  /** Shows another tree, as far as possible with the same zoom, search and highlight. */
  setTree(tree: Tree): void;
  /** Applies a change of display options, as reported to onDisplayChange, without calling
   * onDisplayChange. This links two panels. */
  setDisplay(display: DisplayOptions): void;
  /** The present display options without empty ones. */
  display(): DisplayOptions;
  /** The tree after focus, hide, "only my code" and recursion, for exports. */
  tree(): Tree;
  /** All levels of the zoomed graph, for svgOf() and canvasOf(). */
  picture(): Picture;
  /** Removes all listeners. The picture stays. */
  dispose(): void;
}

export function flamePanel(options: PanelOptions): Panel {
  return new FlamePanel(options.tree, options.display, options.title, options.origin, options.onDisplayChange);
}
