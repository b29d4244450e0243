/** A timeline with ranges that the user drags: the middle of a range moves it, and its
 * ends change its length. By keyboard: arrows move the focused part, and Enter shows the
 * new range. */
import { RANGE_MIN_MS, type Range } from "../model/range.ts";
import { moment } from "../parts/format.ts";
import { h } from "../parts/dom.ts";
import type { WireAnnotation } from "../model/wire.ts";
import { Marks, type MarksOptions } from "./marks.ts";
import { Plot } from "./plot.ts";
import { pointsOf, summary, type Points, type WireSeries } from "./series.ts";

/** The range of one side of a comparison. */
export interface SideRange {
  readonly side: "left" | "right";
  readonly title: string;
  readonly range: Range;
}

export interface RangeTimelineOptions {
  /** Names the timeline for screen readers. */
  label: string;
  /** The range that the timeline shows. */
  shown: Range;
  ranges: readonly SideRange[];
  /** Called with the new range after a drag, or after Enter. */
  onRange: (side: SideRange["side"], range: Range) => void;
  /** The options of the annotations, apart from their positions. */
  marks: Omit<MarksOptions, "left">;
  signal: AbortSignal;
}

/** The part of a range that is moved. */
type Part = "start" | "whole" | "end";

const PART_NAMES: Readonly<Record<Part, string>> = { start: "start", whole: "whole range", end: "end" };
/** Dragged and moved times are whole seconds. */
const SNAP_MS = 1000;
/** A narrower bar has no space for its ends, so a drag moves it. The keyboard still reaches
 * the ends. */
const NARROW_PX = 34;
const STEPS_PER_PAGE = 10;

function emptyPoints({ fromMs, untilMs }: Range): Points {
  return { timesMs: [fromMs, untilMs], values: [null, null], stepMs: (untilMs - fromMs) / 100, fromMs, untilMs, format: String, name: "" };
}

/** Moves a part of a range within `shown`. */
export function dragged({ fromMs, untilMs }: Range, part: Part, byMs: number, shown: Range): Range {
  const snapped = Math.round(byMs / SNAP_MS) * SNAP_MS;
  const limited = (ms: number, min: number, max: number): number => Math.max(min, Math.min(max, ms));

  if (part === "start")
    return { fromMs: limited(fromMs + snapped, shown.fromMs, untilMs - RANGE_MIN_MS), untilMs };
  if (part === "end")
    return { fromMs, untilMs: limited(untilMs + snapped, fromMs + RANGE_MIN_MS, shown.untilMs) };
  const by = limited(snapped, shown.fromMs - fromMs, shown.untilMs - untilMs);
  return { fromMs: fromMs + by, untilMs: untilMs + by };
}

export class RangeTimeline {
  readonly element: HTMLElement;
  private readonly place = h("div", { class: "timeline-plot" });
  private readonly readout = h("p", { class: "readout" });
  private readonly description = h("p", { class: "sr" });
  private readonly bars: readonly Bar[];
  private readonly marks: Marks;
  private readonly plot: Plot;
  private points: Points;

  constructor(private readonly options: RangeTimelineOptions) {
    this.marks = new Marks({ ...options.marks, left: (ms) => this.plot.left(ms) });
    this.points = emptyPoints(options.shown);
    this.bars = options.ranges.map((each) => new Bar(each, options.shown, {
      msAt: (clientX) => this.plot.ms(clientX), left: (ms) => this.plot.left(ms), stepMs: () => Math.max(SNAP_MS, this.points.stepMs),
      onChange: (text) => { this.readout.textContent = text ?? this.points.name; },
      onRange: (range) => { options.onRange(each.side, range); },
    }));
    this.element = h("section", { class: "timeline", "aria-label": options.label },
      h("div", { class: "timeline-head" }, this.readout),
      h("div", { class: "timeline-body" }, ...this.bars.flatMap(({ row, tint }) => [row, tint]), this.place, this.marks.element), this.marks.details, this.description);
    this.plot = new Plot(this.place, this.points, {
      onHover: () => undefined, onDraw: () => { queueMicrotask(() => { this.placeBars(); }); },
    });
    this.listen();
  }

  set(series: WireSeries, annotations: readonly WireAnnotation[]): void {
    this.points = { ...pointsOf(series), fromMs: this.options.shown.fromMs, untilMs: this.options.shown.untilMs };
    this.plot.set(this.points);
    this.marks.set(annotations);
    this.readout.textContent = this.points.name;
    this.description.textContent = summary(this.points);
  }

  private placeBars(): void {
    for (const bar of this.bars)
      bar.place();
    if (!this.marks.element.contains(document.activeElement))
      this.marks.place();
  }

  private listen(): void {
    const resized = new ResizeObserver(() => {
      this.plot.setWidth(this.place.clientWidth);
      this.placeBars();
    });
    const { signal } = this.options;

    resized.observe(this.place);
    addEventListener("themechange", () => { this.plot.redraw(); }, { signal });
    signal.addEventListener("abort", () => {
      resized.disconnect();
      this.plot.dispose();
    });
  }
}

interface BarEvents {
  msAt: (clientX: number) => number;
  left: (ms: number) => number | null;
  /** The step of the arrow keys. */
  stepMs: () => number;
  /** Called with the range that is not applied yet; null if there is none. */
  onChange: (text: string | null) => void;
  onRange: (range: Range) => void;
}

/** The range of one side: a bar above the timeline, and a tint of the timeline. */
class Bar {
  readonly row: HTMLElement;
  readonly tint: HTMLElement;
  private readonly bar: HTMLElement;
  private readonly parts: Readonly<Record<Part, HTMLElement>>;
  private range: Range;

  constructor(private readonly side: SideRange, private readonly shown: Range, private readonly events: BarEvents) {
    this.range = side.range;
    this.parts = { whole: this.part("whole"), start: this.part("start"), end: this.part("end") };
    this.parts.whole.textContent = side.title;
    this.bar = h("div", { class: `time-range ${side.side}` }, this.parts.whole, this.parts.start, this.parts.end);
    this.row = h("div", { class: "time-row" }, this.bar);
    this.tint = h("div", { class: `time-tint ${side.side}` });
    this.listenToPointer(this.tint, "whole");
    this.describe();
  }

  place(): void {
    const left = this.events.left(this.range.fromMs), right = this.events.left(this.range.untilMs);
    const isVisible = left !== null && right !== null;

    for (const element of [this.bar, this.tint]) {
      element.hidden = !isVisible;
      element.classList.toggle("narrow", isVisible && right - left < NARROW_PX);
      if (isVisible) {
        element.style.left = `${left}px`;
        element.style.width = `${right - left}px`;
      }
    }
  }

  private part(part: Part): HTMLElement {
    const element = h("div", { class: `time-part time-${part}`, role: "slider", tabindex: "0", "aria-label": `${this.side.title}, ${PART_NAMES[part]}` });

    this.listenToPointer(element, part);
    element.addEventListener("keydown", (event) => { this.key(event, part); });
    return element;
  }

  private describe(): void {
    const { fromMs, untilMs } = this.range;
    const both = `${moment(fromMs)} \u2013 ${moment(untilMs)}`;

    for (const [part, now, text] of [["start", fromMs, moment(fromMs)], ["whole", fromMs, both], ["end", untilMs, moment(untilMs)]] as const) {
      const element = this.parts[part];
      element.setAttribute("aria-valuemin", String(this.shown.fromMs));
      element.setAttribute("aria-valuemax", String(this.shown.untilMs));
      element.setAttribute("aria-valuenow", String(now));
      element.setAttribute("aria-valuetext", text);
      element.title = both;
    }
  }

  private show(range: Range, isApplied: boolean, hint = ""): void {
    this.range = range;
    this.describe();
    this.place();
    this.events.onChange(isApplied ? null : `${this.side.title}: ${moment(range.fromMs)} \u2013 ${moment(range.untilMs)}${hint}`);
  }

  private apply(part: Part | null): void {
    const { range, side: { side, range: before } } = this;

    if (range.fromMs === before.fromMs && range.untilMs === before.untilMs)
      return;
    this.events.onRange(range);
    // The view is shown again, with new elements.
    if (part)
      document.querySelector<HTMLElement>(`.time-range.${side} .time-${part}`)?.focus({ preventScroll: true });
  }

  private key(event: KeyboardEvent, part: Part): void {
    const steps: Readonly<Record<string, number>> = {
      ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: STEPS_PER_PAGE, PageDown: -STEPS_PER_PAGE, Home: -Infinity, End: Infinity,
    };
    const by = steps[event.key];

    if (event.ctrlKey || event.metaKey || event.altKey)
      return;
    if (by !== undefined)
      this.show(dragged(this.range, part, Number.isFinite(by) ? by * this.events.stepMs() : by, this.shown), false, ". Enter shows this range.");
    else if (event.key === "Enter")
      this.apply(part);
    else if (event.key === "Escape")
      this.show(this.side.range, true);
    else
      return;
    event.preventDefault();
  }

  private listenToPointer(element: HTMLElement, part: Part): void {
    let begin: { ms: number; range: Range } | null = null;

    element.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !event.isPrimary)
        return;
      element.setPointerCapture(event.pointerId);
      begin = { ms: this.events.msAt(event.clientX), range: this.range };
    });
    element.addEventListener("pointermove", (event) => {
      if (begin)
        this.show(dragged(begin.range, part, this.events.msAt(event.clientX) - begin.ms, this.shown), false);
    });
    element.addEventListener("pointerup", () => {
      begin = null;
      this.apply(null);
    });
    element.addEventListener("pointercancel", () => {
      if (begin)
        this.show(begin.range, true);
      begin = null;
    });
  }
}
