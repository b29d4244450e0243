/** The printed form of a flame graph: all levels in light colours, and the first
 * functions of the table. */
import { h } from "../../parts/dom.ts";
import { canvasOf, type Picture } from "../graph/picture.ts";
import type { Table } from "./table.ts";

const SCALE = 2;
/** Maximum number of printed functions, which fill one or two pages. */
const ROWS_MAX = 100;

/** Calls `begin` before and `end` after printing, until the signal is aborted. With
 * `capture`, calls them before the functions registered without it. */
export function aroundPrint(signal: AbortSignal, begin: () => void, end: () => void, capture = false): void {
  addEventListener("beforeprint", begin, { signal, capture });
  addEventListener("afterprint", end, { signal, capture });
}

export class Printed {
  readonly element = h("div", { class: "flame-printed", "aria-hidden": "true" });

  constructor(picture: () => Picture, table: Table, signal: AbortSignal) {
    aroundPrint(signal, () => {
      const drawing = picture();
      // An empty graph has no picture.
      this.element.replaceChildren(...drawing.height > 0 ? [canvasOf(drawing, SCALE)] : []);
      table.print(ROWS_MAX);
    }, () => {
      this.element.replaceChildren();
      table.print(0);
    });
  }
}
