/** The page as a file of its own: one flame graph, its spans, no server. */
import { flamePanel } from "./flame/panel.ts";
import type { WireFile } from "./model/wire.ts";
import { treeOf } from "./model/tree.ts";
import { h, shown } from "./parts/dom.ts";

export function showFile(place: HTMLElement, file: WireFile): void {
  const panel = flamePanel({ tree: treeOf(file.now.tree), look: {}, onLook: () => undefined, title: file.title });

  document.title = shown(file.title, 100);
  place.append(h("h1", {}, shown(file.title)), panel.element);
}
