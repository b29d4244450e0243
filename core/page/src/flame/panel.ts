/** A flame graph with its table, search and tools: what every view shows stacks
 * with, and all there is in a file.
 *
 * The tree stays whole in memory: own and total times are sums over all nodes,
 * whatever of it is wide enough to be drawn. */
import type { Tree } from "../model/tree.ts";
import type { Origin } from "../export/origin.ts";
import { FlamePanel } from "./flame_panel.ts";
import type { Look } from "./look.ts";
import type { Picture } from "./picture.ts";

export type { Look } from "./look.ts";
export { canvasOf, svgOf, type Picture } from "./picture.ts";

export interface PanelOptions {
  tree: Tree;
  /** The address's parameters will do: others are not looked at. */
  look: Look;
  /** The user looked elsewhere: members to change, "" takes one away. */
  onLook: (change: Look) => void;
  /** The title of exports, and their file name without an extension. */
  title: string;
  /** The origin of the stacks shown at present. */
  origin: () => Origin;
}

export interface Panel {
  readonly element: HTMLElement;
  /** Show other stacks, as far as possible in the same way. */
  setTree(tree: Tree): void;
  /** Look as told, without a call of onLook: two panels are linked by it. A
   * change, as onLook gives it: members that are not in it stay. */
  setLook(look: Look): void;
  /** How it is looked at now: only members that are set. */
  look(): Look;
  /** The tree that is drawn: after focus, hide and recursion, as an export has it. */
  tree(): Tree;
  /** All levels of the graph as it is zoomed, for svgOf() and canvasOf(). */
  picture(): Picture;
  /** Gives back what it listens to outside of its element. */
  dispose(): void;
}

export function flamePanel(options: PanelOptions): Panel {
  return new FlamePanel(options.tree, options.look, options.title, options.origin, options.onLook);
}
