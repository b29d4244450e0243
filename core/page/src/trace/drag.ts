/** Lets the user drag a range over the time column of a waterfall. */
import { h } from "../parts/dom.ts";

/** Shorter movements are clicks. */
const DRAG_MIN_PX = 5;

/** `onRange` gets the two ends as shares of the column's width, from 0 to 1. A touch
 * scrolls and does not drag. */
export function dragRange(element: HTMLElement, onRange: (from: number, until: number) => void): void {
  const band = h("div", { class: "drag-range", hidden: true, "aria-hidden": "true" });
  let column: DOMRect | null = null;
  let beginX = 0;
  const shareAt = (x: number): number => Math.min(1, Math.max(0, (x - column!.left) / (column!.width || 1)));
  const end = (): void => {
    column = null;
    band.hidden = true;
  };
  const stopClick = (click: Event): void => { click.stopPropagation(); };

  element.append(band);
  element.addEventListener("pointerdown", (event) => {
    const time = event.target instanceof Element ? event.target.closest(".time") : null;

    if (!time || event.button !== 0 || event.pointerType === "touch")
      return;
    column = time.getBoundingClientRect();
    beginX = event.clientX;
  });
  element.addEventListener("pointermove", (event) => {
    if (!column)
      return;
    if (event.buttons === 0) {
      end();
      return;
    }
    if (band.hidden && Math.abs(event.clientX - beginX) < DRAG_MIN_PX)
      return;
    const [from, until] = [shareAt(beginX), shareAt(event.clientX)].sort((a, b) => a - b) as [number, number];
    if (band.hidden)
      element.setPointerCapture(event.pointerId);
    band.hidden = false;
    band.style.left = `${column.left - element.getBoundingClientRect().left + from * column.width}px`;
    band.style.width = `${(until - from) * column.width}px`;
  });
  element.addEventListener("pointerup", (event) => {
    if (column && !band.hidden) {
      const [from, until] = [shareAt(beginX), shareAt(event.clientX)].sort((a, b) => a - b) as [number, number];
      onRange(from, until);
      // The click that follows the drag selects no row.
      element.addEventListener("click", stopClick, true);
      setTimeout(() => { element.removeEventListener("click", stopClick, true); }, 0);
    }
    end();
  });
  element.addEventListener("pointercancel", end);
}
