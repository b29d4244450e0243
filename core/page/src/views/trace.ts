/** The Trace view: waterfall, details of the selected span, and the flame graph of
 * the whole trace. */
import { rangeChange } from "../model/range.ts";
import type { WireTraceSpan, WireTraceWindow } from "../model/wire.ts";
import { Problem } from "../parts/api.ts";
import { h, safeText } from "../parts/dom.ts";
import { amount, count, exactMoment } from "../parts/format.ts";
import { zoneOf } from "../parts/zone.ts";
import { fewSamples, idText, nameText } from "../spans/cells.ts";
import { toOtherView, measureOf, type Measure } from "../spans/links.ts";
import { spanDetails } from "../trace/details.ts";
import { TraceFlame } from "../trace/flame.ts";
import { forestOf, type Branch, type Forest } from "../trace/forest.ts";
import { laneRows, type LaneRows } from "../trace/lane_rows.ts";
import { areUseful, lanesOf } from "../trace/lanes.ts";
import { isWhole, partText, readPart, type Part } from "../trace/part.ts";
import { timeText, waterfall, type Waterfall } from "../trace/waterfall.ts";
import type { View } from "./view.ts";

const ID = /^[0-9a-f]{32}$/;

interface WireTraceAnswer {
  spans: WireTraceSpan[];
  windows: WireTraceWindow[];
}

/** Returns null if the server does not have the trace. */
async function traceOf(view: View, id: string): Promise<WireTraceAnswer | null> {
  try {
    const { type } = view.state.parameters;
    return await view.api.get<WireTraceAnswer>(`trace/${id}`, { type, windows: 1 }, view.signal);
  } catch (error) {
    if (error instanceof Problem && error.status === 404)
      return null;
    throw error;
  }
}

export async function trace(view: View): Promise<void> {
  const id = (view.state.parameters["trace"] ?? "").toLowerCase();
  const all = h("p", {}, h("a", { href: view.address(toOtherView({}), "traces") }, "All traces"));

  if (!ID.test(id)) {
    view.element.append(h("h1", {}, "Trace"), h("p", { class: "notice", role: "status" }, id === ""
      ? "No trace selected." : `\u201c${safeText(id, 60)}\u201d is not a trace id (32 hexadecimal digits).`), all);
    return;
  }
  const answer = await traceOf(view, id);
  if (!answer) {
    view.element.append(h("h1", {}, "Trace"), h("p", { class: "notice", role: "status" },
      `Trace ${id} not found: it was never sent to this server, or has been deleted.`), all);
    return;
  }
  const measure = measureOf(view.state);
  const forest = forestOf(answer.spans, view.state.parameters["clock"] === "recorded");
  view.title(forest.branches[0]!.span.name);
  const flame = new TraceFlame(view, id, forest, measure.name, chosenOf(view, forest));
  view.element.append(heading(id, forest, measure), waterfallSection(view, forest, answer.windows, measure, flame), flame.element);
}

function plural(number: number, one: string, several: string): string {
  return `${count(number)} ${number === 1 ? one : several}`;
}

function heading(id: string, forest: Forest, { unit, name }: Measure): HTMLElement {
  const root = forest.branches[0]!.span;
  const services = new Set(forest.branches.map(({ span }) => span.service)).size;
  const notes = [
    forest.orphans ? `${plural(forest.orphans, "span has a missing parent and is shown as a root", "spans have missing parents and are shown as roots")}.` : "",
    forest.shifted ? `${plural(forest.shifted, "span was", "spans were")} recorded before the parent because host clocks differ. Such spans are drawn inside their parents.` : "",
    forest.samples === 0 ? `No samples of this trace: the waterfall shows durations, but no ${name}.` : "",
  ].filter((note) => note !== "");

  return h("header", { class: "span-head" }, h("h1", {}, nameText(root.name)),
    h("p", { class: "faint" }, `${safeText(root.service, 100)}, trace `, idText(id)),
    h("p", { class: "summary" }, `${exactMoment(root.startNs / 1e6)} ${zoneOf(root.startNs / 1e6)}, ${amount(forest.lengthNs, "nanoseconds")}, ${plural(forest.branches.length, "span", "spans")} of `
      + `${plural(services, "service", "services")}, ${amount(forest.self, unit)} ${name} in ${plural(forest.samples, "sample", "samples")} `,
    forest.samples > 0 && fewSamples(forest.samples)),
    ...notes.map((note) => h("p", { class: "note" }, note)));
}

function chosenOf(view: View, forest: Forest): number {
  return forest.branches.findIndex(({ span }) => span.spanId === view.state.parameters["span"]);
}

const NOTE_PAUSE_MS = 200;

/** Writes the selected span to the address: the first selection immediately, the next
 * ones after a pause, because a key that is held down makes more than the 100 changes
 * in 30 s that browsers allow. */
function addressWriter(view: View): { schedule: (span: string) => void; flush: () => void } {
  let waiting: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting !== undefined)
      view.updateAddress({ span: waiting });
    waiting = undefined;
  };

  return {
    flush,
    schedule(span) {
      const isFirst = timer === undefined;
      waiting = span;
      if (isFirst)
        flush();
      clearTimeout(timer);
      timer = setTimeout(flush, NOTE_PAUSE_MS);
    },
  };
}

/** Waterfalls with at most this many rows have the details below them, since the
 * details beside them would leave a gap below. */
const SHORT_ROWS = 12;

function waterfallSection(view: View, forest: Forest, windows: readonly WireTraceWindow[], measure: Measure, flame: TraceFlame): HTMLElement {
  const details = h("aside", { "aria-label": "Selected span", "aria-live": "polite", tabindex: "0" });
  const pageChange = ({ span }: Branch): Record<string, string | undefined> => {
    const beginMs = Math.floor(span.startNs / 1e6);
    return toOtherView({
      span: span.spanId, trace: view.state.parameters["trace"],
      ...rangeChange({ fromMs: beginMs, untilMs: beginMs + Math.ceil(span.durationNs / 1e6) + 1 }),
    });
  };
  const show = (index: number): void => {
    const branch = forest.branches[index]!;
    details.replaceChildren(spanDetails(branch, measure.unit, measure.name,
      h("a", { href: view.address(pageChange(branch), "span") }, "Flame graph and baseline of this span")));
  };
  const note = addressWriter(view);
  const grid = waterfall({
    forest, unit: measure.unit, valueName: measure.name, selected: chosenOf(view, forest), part: readPart(view.state.parameters["part"], forest.lengthNs),
    onSelect: (index) => {
      note.schedule(forest.branches[index]!.span.spanId);
      show(index);
      flame.select(index);
    },
    onPart: (part) => {
      view.updateAddress({ part: partText(part, forest.lengthNs) });
      zoom.set(part);
      lanes?.draw(part);
    },
    onOpen: (index) => {
      note.flush();
      view.go(pageChange(forest.branches[index]!), "span");
    },
    hrefOf: (index) => view.address(pageChange(forest.branches[index]!), "span"),
  });

  const zoom = zoomTools(view, forest, grid);
  const lanes = lanesBelow(windows, forest, measure, grid);
  const part = readPart(view.state.parameters["part"], forest.lengthNs);

  show(Math.max(0, chosenOf(view, forest)));
  zoom.set(part);
  lanes?.draw(part);
  return h("section", { "aria-label": "Waterfall" }, tools(view, forest, grid, zoom.element, measure),
    h("div", { class: forest.branches.length > SHORT_ROWS ? "trace-body" : "trace-body short" }, h("div", {}, grid.element, lanes?.element), details));
}

/** Returns null if the lanes would repeat the sums of the waterfall. */
function lanesBelow(windows: readonly WireTraceWindow[], forest: Forest, measure: Measure, grid: Waterfall): LaneRows | null {
  const lanes = lanesOf(windows, forest);

  return areUseful(lanes, forest.lengthNs) ? laneRows({ lanes, forest, measure, onSelect: (index) => { grid.select(index); } }) : null;
}

function zoomTools(view: View, forest: Forest, grid: Waterfall): { element: HTMLElement; set: (part: Part) => void } {
  const out = h("button", { type: "button", title: "Key: 0", onclick: () => {
    grid.zoomOut();
    within.focus();
  } }, "Show whole trace");
  const within = h("button", { type: "button", title: "Key: z. You can also drag a range in the time column.", onclick: () => { grid.zoomToSelected(); } }, "Zoom to span");
  const text = h("span", { class: "faint" });

  return {
    element: h("span", { class: "zoom-tools" }, within, out, text),
    set({ fromNs, untilNs }) {
      const whole = isWhole({ fromNs, untilNs }, forest.lengthNs);

      out.hidden = whole;
      text.textContent = whole ? "" : `${timeText(fromNs, untilNs - fromNs)} \u2013 ${timeText(untilNs, untilNs - fromNs)}`;
      if (!whole)
        view.announce(`The waterfall shows ${text.textContent} of the trace.`);
    },
  };
}

/** The next branch after `from` whose name, service or id contains the text; -1 if none. */
function findNext(forest: Forest, from: number, text: string): number {
  const sought = text.toLowerCase();
  const length = forest.branches.length;

  for (let step = 1; step <= length; step++) {
    const { span } = forest.branches[(from + step) % length]!;
    if ([span.name, span.service, span.spanId].some((each) => each.toLowerCase().includes(sought)))
      return (from + step) % length;
  }
  return -1;
}

function tools(view: View, forest: Forest, grid: Waterfall, zoom: HTMLElement, { name }: Measure): HTMLElement {
  const search = h("input", { type: "search", placeholder: "Find a span", "aria-label": "Find a span: Enter for the next match" });
  const status = h("span", { class: "faint", role: "status" });
  const clock = h("input", { type: "checkbox", checked: view.state.parameters["clock"] === "recorded", onchange: () => {
    view.go({ clock: clock.checked ? "recorded" : undefined });
  } });

  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || search.value === "")
      return;
    const found = findNext(forest, grid.selected(), search.value);
    status.textContent = found < 0 ? "No matching span." : "";
    if (found >= 0)
      grid.select(found);
  });
  return h("div", { class: "tools-row" }, search, status,
    h("button", { type: "button", onclick: () => { grid.setClosed(true); } }, "Collapse all"),
    h("button", { type: "button", onclick: () => { grid.setClosed(false); } }, "Expand all"), zoom,
    (forest.shifted > 0 || clock.checked) && h("label", {}, clock, " Times as recorded"),
    h("span", { class: "legend", "aria-label": "Legend" }, h("i", { class: "key wall" }), "duration ", h("i", { class: "key total" }), `total ${name} `,
      h("i", { class: "key self" }), `self ${name}`));
}
