/** Lets the user drag a horizontal range with the mouse. */
import { h } from "./dom.ts";

/** Shorter movements are clicks. */
const DRAG_MIN_PX = 5;

export interface DragEvents {
  /** The element whose width the range refers to; null if a drag that starts at `target` selects
   * nothing. */
  area(target: Element): Element | null;
  /** Called while the user drags, with the two ends as shares of the area's width, from 0 to 1. */
  onMove?(from: number, until: number, event: PointerEvent): void;
  /** Called after the drag. */
  onRange(from: number, until: number): void;
  /** Called when a drag ends, also if Escape or the browser cancels it. */
  onEnd?(): void;
}

/** Lets the user drag ranges on an element. A touch scrolls the element instead. Escape cancels
 * a drag. */
export function dragRange(element: HTMLElement, events: DragEvents): void {
  new Drag(element, events).listen();
}

class Drag {
  private readonly band = h("div", { class: "drag-range", hidden: true, "aria-hidden": "true" });
  /** The bounds of the area while the button is pressed; otherwise null. */
  private area: DOMRect | null = null;
  private beginX = 0;
  private isCancelled = false;

  constructor(private readonly element: HTMLElement, private readonly events: DragEvents) {}

  listen(): void {
    const { element } = this;

    element.append(this.band);
    element.addEventListener("pointerdown", (event) => { this.begin(event); });
    element.addEventListener("pointermove", (event) => { this.move(event); });
    element.addEventListener("pointerup", (event) => { this.release(event); });
    element.addEventListener("pointercancel", () => { this.end(); });
  }

  private begin(event: PointerEvent): void {
    const area = event.target instanceof Element ? this.events.area(event.target) : null;

    if (!area || event.button !== 0 || event.ctrlKey || event.pointerType === "touch")
      return;
    this.area = area.getBoundingClientRect();
    this.beginX = event.clientX;
    this.isCancelled = false;
  }

  private move(event: PointerEvent): void {
    if (!this.area)
      return;
    if (event.buttons === 0) {
      this.end();
      return;
    }
    if (this.isCancelled || (this.band.hidden && Math.abs(event.clientX - this.beginX) < DRAG_MIN_PX))
      return;
    if (this.band.hidden) {
      this.element.setPointerCapture(event.pointerId);
      addEventListener("keydown", this.onKey, true);
    }
    const [from, until] = this.rangeTo(event.clientX);
    this.band.hidden = false;
    this.band.style.left = `${this.area.left - this.element.getBoundingClientRect().left + from * this.area.width}px`;
    this.band.style.width = `${(until - from) * this.area.width}px`;
    this.events.onMove?.(from, until, event);
  }

  private release(event: PointerEvent): void {
    const range = this.area && !this.band.hidden ? this.rangeTo(event.clientX) : null;
    const hasDragged = range !== null || this.isCancelled;

    this.end();
    if (range)
      this.events.onRange(...range);
    if (!hasDragged)
      return;
    // Ignore the click event that follows the drag.
    const stopClick = (click: Event): void => { click.stopPropagation(); };
    this.element.addEventListener("click", stopClick, true);
    setTimeout(() => { this.element.removeEventListener("click", stopClick, true); }, 0);
  }

  private readonly onKey = (event: KeyboardEvent): void => {
    if (event.key !== "Escape")
      return;
    event.preventDefault();
    event.stopPropagation();
    this.hide();
    this.isCancelled = true;
  };

  private rangeTo(clientX: number): [from: number, until: number] {
    const { left, width } = this.area!;
    const shareAt = (x: number): number => Math.min(1, Math.max(0, (x - left) / (width || 1)));

    return [shareAt(Math.min(this.beginX, clientX)), shareAt(Math.max(this.beginX, clientX))];
  }

  private end(): void {
    this.area = null;
    this.isCancelled = false;
    this.hide();
  }

  private hide(): void {
    if (this.band.hidden)
      return;
    this.band.hidden = true;
    removeEventListener("keydown", this.onKey, true);
    this.events.onEnd?.();
  }
}
