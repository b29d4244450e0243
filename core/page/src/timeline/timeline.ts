/** A timeline with annotations. A drag selects a range, and a click selects a time
 * to annotate. By keyboard: arrows move, Shift and arrows select, Enter shows the
 * selected range, and "a" annotates. */
import type { Range } from "../model/range.ts";
import type { WireAnnotation } from "../model/wire.ts";
import type { Api } from "../parts/api.ts";
import { moment } from "../parts/format.ts";
import { h } from "../parts/dom.ts";
import { Marks } from "./marks.ts";
import { Plot } from "./plot.ts";
import { pointsOf, stepAt, summary, type Points, type WireSeries } from "./series.ts";

export interface TimelineOptions {
  api: Api;
  /** The application of new annotations; null for all applications. */
  application: string | null;
  onRange: (range: Range) => void;
  /** The addresses of the comparison of the times before and after an annotation. */
  comparisons: (ms: number) => readonly { name: string; address: string }[];
  /** Called after an annotation was added or removed. Must load the data and call set(). */
  onAnnotations: () => Promise<void>;
  announce: (text: string) => void;
  signal: AbortSignal;
}

export class Timeline {
  readonly element: HTMLElement;
  private readonly slider = h("div", { class: "timeline-plot", role: "slider", tabindex: "0", "aria-label": "Timeline" });
  private readonly readout = h("p", { class: "readout" });
  private readonly description = h("p", { class: "sr" });
  private readonly annotate: HTMLButtonElement;
  private readonly marks: Marks;
  private plot: Plot | null = null;
  private points: Points | null = null;
  private pickedMs: number | null = null;
  private selectionStartMs: number | null = null;

  constructor(private readonly options: TimelineOptions) {
    this.marks = new Marks({
      api: options.api, application: options.application, announce: options.announce, onChange: options.onAnnotations, comparisons: options.comparisons,
      left: (ms) => this.plot?.left(ms) ?? null,
    });
    this.annotate = h("button", { type: "button", class: "annotate", onclick: () => { this.openAnnotationForm(); } }, "Annotate");
    this.element = h("section", { class: "timeline", "aria-label": "Timeline" },
      h("div", { class: "timeline-head" }, this.readout, this.annotate),
      h("div", { class: "timeline-body" }, this.slider, this.marks.element), this.marks.details, this.description);
    this.listen();
  }

  set(series: WireSeries, annotations: readonly WireAnnotation[]): void {
    const points = this.points = pointsOf(series);

    if (this.plot)
      this.plot.set(points);
    else
      this.plot = new Plot(this.slider, points, {
        onRange: (fromMs, untilMs) => { this.options.onRange({ fromMs, untilMs }); },
        onHover: (ms) => { this.read(ms ?? this.pickedMs); },
        onPick: (ms) => { this.pick(ms); },
        onDraw: () => { queueMicrotask(() => { if (!this.marks.element.contains(document.activeElement)) this.marks.place(); }); },
      });
    this.description.textContent = summary(points);
    this.marks.set(annotations);
    this.slider.setAttribute("aria-valuemin", String(points.fromMs));
    this.slider.setAttribute("aria-valuemax", String(points.untilMs));
    this.pick(this.pickedMs, false);
  }

  private listen(): void {
    const resized = new ResizeObserver(() => { this.plot?.setWidth(this.slider.clientWidth); });
    const redraw = (): void => { this.plot?.redraw(); };
    const { signal } = this.options;

    resized.observe(this.slider);
    addEventListener("themechange", redraw, { signal });
    this.slider.addEventListener("keydown", (event) => { this.key(event); });
    signal.addEventListener("abort", () => {
      resized.disconnect();
      this.plot?.dispose();
      this.plot = null;
    });
  }

  private key(event: KeyboardEvent): void {
    const { points } = this;
    const by: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, PageUp: 10, PageDown: -10 };
    const steps = by[event.key];

    if (!points || event.ctrlKey || event.metaKey || event.altKey)
      return;
    if (steps !== undefined)
      this.move(points, steps * points.stepMs, event.shiftKey);
    else if (event.key === "Home" || event.key === "End")
      this.move(points, event.key === "Home" ? -Infinity : Infinity, event.shiftKey);
    else if (event.key === "Enter" && this.selectionStartMs !== null)
      this.applySelection(this.selectionStartMs);
    else if (event.key === "a")
      this.openAnnotationForm();
    else if (event.key === "Escape" && this.selectionStartMs !== null)
      this.selectionStartMs = null;
    else
      return;
    this.plot?.mark(this.selectionStartMs === null || this.pickedMs === null ? null : [this.selectionStartMs, this.pickedMs]);
    event.preventDefault();
  }

  private move(points: Points, byMs: number, isSelecting: boolean): void {
    const at = this.pickedMs ?? Math.round((points.fromMs + points.untilMs) / 2);
    const next = Math.max(points.fromMs, Math.min(points.untilMs, at + byMs));

    if (!isSelecting)
      this.selectionStartMs = null;
    else
      this.selectionStartMs ??= at;
    this.pick(next);
  }

  private applySelection(fromMs: number): void {
    const untilMs = this.pickedMs ?? fromMs;

    this.selectionStartMs = null;
    if (untilMs !== fromMs)
      this.options.onRange({ fromMs: Math.min(fromMs, untilMs), untilMs: Math.max(fromMs, untilMs) });
  }

  private pick(ms: number | null, cursor = true): void {
    this.pickedMs = ms;
    if (ms !== null && cursor)
      this.plot?.setCursor(ms);
    this.read(ms);
    this.annotate.textContent = ms === null ? "Annotate" : `Annotate ${moment(ms).slice(11)}`;
  }

  private read(ms: number | null): void {
    const { points } = this;

    if (!points)
      return;
    const text = ms === null ? points.name : this.textAt(points, ms);
    this.readout.textContent = text;
    this.slider.setAttribute("aria-valuenow", String(Math.round(ms ?? points.untilMs)));
    this.slider.setAttribute("aria-valuetext", text);
  }

  private textAt(points: Points, ms: number): string {
    const value = points.values[stepAt(points, ms)] ?? null;
    const selection = this.selectionStartMs === null ? "" : ` (selected from ${moment(this.selectionStartMs)})`;

    return `${moment(ms)}: ${value === null ? "no data" : points.format(value)}${selection}`;
  }

  private openAnnotationForm(): void {
    const { points } = this;

    this.marks.openForm(this.pickedMs ?? Math.min(Date.now(), points?.untilMs ?? Infinity), this.annotate);
  }
}
