/** Breadcrumbs: the path to the zoomed frame. A click zooms out to a frame of it. */
import { h } from "../../parts/dom.ts";
import type { Graph } from "./graph.ts";
import { nameOf } from "./paint.ts";
import { pathTo } from "../stacks/refs.ts";

/** Number of innermost frames that are always shown. */
const LAST = 5;

export class Crumbs {
  readonly element = h("nav", { class: "flame-crumbs", "aria-label": "Zoomed to", hidden: true });
  private readonly onZoom: (index: number) => void;
  private isExpanded = false;
  private zoomed = -1;

  constructor(onZoom: (index: number) => void) {
    this.onZoom = onZoom;
  }

  set(graph: Graph, zoom: number, rootName: string): void {
    const path = pathTo(graph, zoom);

    if (zoom !== this.zoomed)
      this.isExpanded = false;
    this.zoomed = zoom;
    this.element.hidden = zoom === 0;
    if (zoom === 0)
      return;
    const crumb = (index: number): HTMLElement => h("li", {}, h("button", {
      type: "button", title: nameOf({ graph, rootName }, index), "aria-current": index === zoom ? "true" : undefined,
      onclick: () => { this.onZoom(index); },
    }, nameOf({ graph, rootName }, index)));
    const more = h("li", {}, h("button", {
      type: "button", "aria-label": `${path.length - 1 - LAST} more frames`,
      onclick: () => {
        this.isExpanded = true;
        this.set(graph, zoom, rootName);
      },
    }, "\u2026"));
    const isCut = !this.isExpanded && path.length > LAST + 2;
    this.element.replaceChildren(h("ol", {}, crumb(0), ...(isCut ? [more] : []), ...path.slice(isCut ? -LAST : 1).map(crumb)));
  }
}
