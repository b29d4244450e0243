/** The drawing of a timeline: uPlot with bars, which make gaps and single profiles
 * visible. */
import uPlot from "uplot";
import { colourOf } from "../parts/colour.ts";
import { h } from "../parts/dom.ts";
import { zoned, zoneOf } from "../parts/zone.ts";
import type { Points } from "./series.ts";

export interface PlotEvents {
  /** Called after a drag. Without this function, drags have no effect. */
  onRange?: (fromMs: number, untilMs: number) => void;
  /** Called when the pointer is at a time; null if the pointer has left the timeline.
   */
  onHover: (ms: number | null) => void;
  onPick?: (ms: number) => void;
  /** Called when positions have changed, so that overlays must move. */
  onDraw: () => void;
}

const HEIGHT = 130;
/** Shorter drags count as clicks. */
const DRAG_MIN_PX = 4;
const RANGE_MIN_MS = 1;

export class Plot {
  readonly element: HTMLElement;
  private readonly plot: uPlot;
  /** Names the time zone of the axis. */
  private readonly zone = h("span", { class: "axis-zone", "aria-hidden": "true" });
  private points: Points;

  constructor(place: HTMLElement, points: Points, private readonly events: PlotEvents) {
    this.points = points;
    this.element = place;
    this.plot = new uPlot(this.options(), dataOf(points), place);
    this.zone.textContent = zoneOf(points.untilMs);
    place.append(this.zone);
    this.plot.over.addEventListener("click", (event) => {
      const ms = this.ms(event.clientX);
      if (this.plot.select.width < DRAG_MIN_PX)
        this.events.onPick?.(Math.round(ms));
    });
    if (events.onRange)
      this.listenToTouch();
  }

  set(points: Points): void {
    this.points = points;
    this.zone.textContent = zoneOf(points.untilMs);
    this.plot.setData(dataOf(points), false);
    this.plot.setScale("x", { min: points.fromMs, max: points.untilMs });
  }

  setWidth(width: number): void {
    if (width > 0)
      this.plot.setSize({ width, height: HEIGHT });
  }

  redraw(): void {
    this.plot.redraw(false, true);
  }

  /** The position of a time, in CSS pixels from the left of `element`; null if outside. */
  left(ms: number): number | null {
    const at = this.plot.valToPos(ms, "x");

    return at < -1 || at > this.plot.over.clientWidth + 1 ? null : this.plot.over.offsetLeft + at;
  }

  /** The time at a position, in CSS pixels from the left of the window. */
  ms(clientX: number): number {
    return this.plot.posToVal(clientX - this.plot.over.getBoundingClientRect().left, "x");
  }

  /** Marks a range as selected; null clears the selection. */
  mark(range: readonly [number, number] | null): void {
    const { plot } = this;
    const left = range ? plot.valToPos(Math.min(...range), "x") : 0;
    const right = range ? plot.valToPos(Math.max(...range), "x") : 0;

    plot.setSelect({ left, width: right - left, top: 0, height: plot.over.clientHeight }, false);
  }

  setCursor(ms: number): void {
    this.plot.setCursor({ left: this.plot.valToPos(ms, "x"), top: 10 }, false);
  }

  /** Removes all listeners. The picture stays. */
  dispose(): void {
    const { root } = this.plot;
    const next = root.nextSibling;

    this.plot.destroy();
    this.element.insertBefore(root, next);
  }

  private options(): uPlot.Options {
    const faint = (): string => colourOf(this.element, "--faint");
    const line = (): string => colourOf(this.element, "--line");
    const axis = { stroke: faint, grid: { stroke: line, width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif" };

    return {
      width: Math.max(200, this.element.clientWidth), height: HEIGHT, ms: 1, tzDate: wallDate, legend: { show: false }, pxAlign: false,
      cursor: { drag: { x: this.events.onRange !== undefined, y: false, setScale: false, dist: DRAG_MIN_PX }, y: false, points: { show: false } },
      scales: {
        x: { time: true, range: () => [this.points.fromMs, Math.max(this.points.untilMs, this.points.fromMs + RANGE_MIN_MS)] },
        y: { range: (_, __, most) => [0, most > 0 ? most * 1.08 : 1] },
      },
      axes: [
        { ...axis, size: 26, values: TIME_FORMATS },
        { ...axis, size: 76, space: 20, values: (_, splits) => splits.map((value) => this.points.format(value)) },
      ],
      series: [{}, {
        fill: () => colourOf(this.element, "--bar"), width: 0, points: { show: false },
        paths: uPlot.paths.bars!({ align: 1, size: [1, Infinity], gap: 0 }),
      }],
      hooks: {
        setSelect: [(plot) => { this.rangeSelected(plot); }],
        setCursor: [(plot) => { this.cursorMoved(plot); }],
        draw: [() => { this.events.onDraw(); }],
      },
    };
  }

  /** Handles drags by finger or pen, since uPlot handles only the mouse. The browser
   * cancels drags that scroll or zoom the page. */
  private listenToTouch(): void {
    const { over } = this.plot;
    let fromMs: number | null = null;
    const msAt = (event: PointerEvent): number => {
      const { left, width } = over.getBoundingClientRect();
      return this.plot.posToVal(Math.max(0, Math.min(width, event.clientX - left)), "x");
    };

    over.addEventListener("pointerdown", (event) => {
      fromMs = event.pointerType !== "mouse" && event.isPrimary ? msAt(event) : null;
      this.mark(null);
    });
    over.addEventListener("pointermove", (event) => {
      if (fromMs === null)
        return;
      this.mark([fromMs, msAt(event)]);
      this.events.onHover(msAt(event));
    });
    over.addEventListener("pointerup", () => {
      if (fromMs !== null)
        this.rangeSelected(this.plot);
      fromMs = null;
    });
    over.addEventListener("pointercancel", () => {
      fromMs = null;
      this.mark(null);
    });
  }

  private rangeSelected(plot: uPlot): void {
    const { left, width } = plot.select;

    if (width < DRAG_MIN_PX)
      return;
    this.events.onRange?.(Math.round(plot.posToVal(left, "x")), Math.round(plot.posToVal(left + width, "x")));
  }

  private cursorMoved(plot: uPlot): void {
    const { left } = plot.cursor;

    this.events.onHover(left === undefined || left < 0 ? null : plot.posToVal(left, "x"));
  }
}

function dataOf(points: Points): uPlot.AlignedData {
  return [points.timesMs, points.values];
}

const S = 1000, MIN = 60 * S, HOUR = 60 * MIN, DAY = 24 * HOUR;

/** Returns a date whose local members (getHours() and so on) are the time in the time zone of
 * the page. uPlot reads these members to place ticks at whole hours and days. */
function wallDate(ms: number): Date {
  return new Date(zoned(ms).getTime() + new Date(ms).getTimezoneOffset() * MIN);
}

/** Labels of the time axis, depending on the distance between ticks. Uses 24 hours,
 * and adds the date where the day changes. */
const TIME_FORMATS: uPlot.Axis.DynamicValues = (_, splits, __, ___, distance) => splits.map((ms, index) => {
  const date = zoned(ms);
  const before = index > 0 ? zoned(splits[index - 1]!) : null;
  const two = (number: number): string => String(number).padStart(2, "0");
  const day = `${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`;
  const time = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}`;

  if (distance >= DAY)
    return day;
  const seconds = distance < MIN ? `:${two(date.getUTCSeconds())}` : "";
  return before && before.getUTCDate() !== date.getUTCDate() ? `${day} ${time}${seconds}` : time + seconds;
});
