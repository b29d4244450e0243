/** What paper gets of a flame graph: all of its levels in light colours, and the
 * first functions of its table as lines that follow each other. */
import { h } from "../parts/dom.ts";
import { canvasOf, type Picture } from "./picture.ts";
import type { Table } from "./table.ts";

const SCALE = 2;
/** A page or two. */
const ROWS_MAX = 100;

/** Calls `begin` and `end` around each printing until the signal ends; with
 * `capture` before those of others. */
export function aroundPrint(signal: AbortSignal, begin: () => void, end: () => void, capture = false): void {
  addEventListener("beforeprint", begin, { signal, capture });
  addEventListener("afterprint", end, { signal, capture });
}

export class Printed {
  readonly element = h("div", { class: "flame-printed", "aria-hidden": "true" });

  constructor(picture: () => Picture, table: Table, signal: AbortSignal) {
    aroundPrint(signal, () => {
      const seen = picture();
      // There is none of an empty graph.
      this.element.replaceChildren(...seen.height > 0 ? [canvasOf(seen, SCALE)] : []);
      table.print(ROWS_MAX);
    }, () => {
      this.element.replaceChildren();
      table.print(0);
    });
  }
}
