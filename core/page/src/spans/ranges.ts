/** The timelines of a comparison, whose ranges can be dragged, and the buttons that set
 * the range of the baseline. */
import { around, baselinesOf, isSameRange } from "../model/range_pair.ts";
import { rangeChange, type Range } from "../model/range.ts";
import type { WireAnnotation } from "../model/wire.ts";
import { Problem, isAborted } from "../parts/api.ts";
import { h } from "../parts/dom.ts";
import type { WireSeries } from "../timeline/series.ts";
import { RangeTimeline, type SideRange } from "../timeline/range_timeline.ts";
import { applicationOf } from "../query/parse.ts";
import type { View } from "../views/view.ts";
import { comparisonsAt } from "./before_after.ts";
import { rangeIn } from "./links.ts";
import { TITLES, isSameQuery, rangeOfSide, requestOf, sideChange, type SideName } from "./side.ts";

export interface ComparisonRanges {
  readonly timelines: HTMLElement;
  /** The buttons for the baseline. */
  readonly baselines: HTMLElement;
}

function timelineOf(view: View, label: string, shown: Range, ranges: readonly SideRange[]): HTMLElement {
  const selection = requestOf(view.state, ranges[ranges.length - 1]!.side);
  const application = applicationOf(selection.query ?? "");
  const load = async (): Promise<void> => {
    const api = view.api.background();
    const [series, { annotations }] = await Promise.all([
      api.get<WireSeries>("series", { ...selection, ...rangeChange(shown) }, view.signal),
      api.get<{ annotations: WireAnnotation[] }>("annotations", { application: application ?? undefined, ...rangeChange(shown) }, view.signal),
    ]);

    timeline.set(series, annotations);
  };
  const timeline = new RangeTimeline({
    label, shown, ranges, signal: view.signal,
    onRange: (side, range) => { view.go(sideChange(side, rangeChange(range))); },
    marks: {
      api: view.api, application, onChange: load, announce: (text) => { view.announce(text); },
      comparisons: (ms) => comparisonsAt(view, selection.query, shown, ms),
    },
  });

  load().catch((error: unknown) => {
    // Ignore errors of the server: the request for the stacks fails with the same error,
    // and the view shows it.
    if (!(error instanceof Problem) && !isAborted(error))
      throw error;
  });
  return timeline.element;
}

function baselineButtons(view: View, left: Range, right: Range): HTMLElement {
  const buttons = baselinesOf(right, !isSameQuery(view.state)).map(({ name, range }) => h("button", {
    type: "button", "aria-pressed": String(isSameRange(range, left)), title: `Baseline: ${name.toLowerCase()}`,
    onclick: () => { view.go(sideChange("left", rangeChange(range))); },
  }, name));

  return h("div", { class: "baselines", role: "group", "aria-label": "Baseline" }, "Baseline ", h("span", { class: "joined" }, ...buttons));
}

/** Returns null if a range cannot be parsed. Two different queries have two timelines. */
export function comparisonRanges(view: View): ComparisonRanges | null {
  const { state } = view;
  const left = rangeOfSide(state, "left"), right = rangeOfSide(state, "right");
  const { from, until } = state.parameters;
  const common = from === undefined && until === undefined ? null : rangeIn(state);

  if (!left || !right || left.fromMs > left.untilMs || right.fromMs > right.untilMs)
    return null;
  const shown = around(common && common.fromMs < common.untilMs ? [left, right, common] : [left, right], Date.now());
  const sideRange = (side: SideName, range: Range): SideRange => ({ side, title: TITLES[side], range });
  const [baseline, comparison] = [sideRange("left", left), sideRange("right", right)];
  const timelines = isSameQuery(state) ? [timelineOf(view, "Timeline", shown, [baseline, comparison])]
    : [timelineOf(view, `Timeline, ${TITLES.left.toLowerCase()}`, shown, [baseline]), timelineOf(view, `Timeline, ${TITLES.right.toLowerCase()}`, shown, [comparison])];

  return { timelines: h("div", { class: isSameQuery(state) ? "" : "side-by-side" }, ...timelines), baselines: baselineButtons(view, left, right) };
}
