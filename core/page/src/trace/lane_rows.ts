/** Draws the lanes of a trace below its waterfall, with the same time axis, and a table
 * of their profiles. */
import { h, safeText } from "../parts/dom.ts";
import { amount, count, exactMoment } from "../parts/format.ts";
import { zoneOf } from "../parts/zone.ts";
import { nameText } from "../spans/cells.ts";
import type { Measure } from "../spans/links.ts";
import { table } from "../spans/table.ts";
import type { Forest } from "./forest.ts";
import type { Box, Lane } from "./lanes.ts";
import type { Part } from "./part.ts";

export interface LaneOptions {
  lanes: readonly Lane[];
  forest: Forest;
  measure: Measure;
  onSelect: (branch: number) => void;
}

export interface LaneRows {
  readonly element: HTMLElement;
  draw(part: Part): void;
}

interface BoxRow {
  lane: Lane;
  box: Box;
}

function laneName({ service, thread }: Lane): string {
  const name = safeText(service ?? "unknown service", 80);

  return thread === null ? name : `${safeText(thread, 80)}, ${name}`;
}

/** The value for each nanosecond of the profile, for the height of a box. */
function rateOf({ fromNs, untilNs, value }: Box): number {
  return value / Math.max(1, untilNs - fromNs);
}

function boxElement(box: Box, part: Part, most: number, text: string, onSelect: () => void): HTMLElement | null {
  const whole = part.untilNs - part.fromNs;
  const from = Math.max(box.fromNs, part.fromNs), until = Math.min(box.untilNs, part.untilNs);
  const fill = h("i", {});
  const element = h("div", { class: "lane-box", title: text, onclick: onSelect }, fill);

  if (until <= from)
    return null;
  element.style.left = `${((from - part.fromNs) / whole * 100).toFixed(3)}%`;
  element.style.width = `${((until - from) / whole * 100).toFixed(3)}%`;
  fill.style.height = `${(rateOf(box) / most * 100).toFixed(1)}%`;
  return element;
}

export function laneRows({ lanes, forest, measure, onSelect }: LaneOptions): LaneRows {
  const first = forest.branches.reduce((least, { span }) => Math.min(least, span.startNs), Infinity);
  const most = lanes.reduce((all, { boxes }) => boxes.reduce((max, box) => Math.max(max, rateOf(box)), all), 0);
  const nameOf = (branch: number): string => nameText(forest.branches[branch]!.span.name);
  const timeOf = (ns: number): string => exactMoment(Math.round((first + ns) / 1e6)).slice(11);
  const value = (number: number): string => amount(number, measure.unit);
  const textOf = ({ fromNs, untilNs, value: sum, samples, largest, largestValue }: Box): string =>
    `${timeOf(fromNs)} \u2013 ${timeOf(untilNs)}: ${value(sum)} ${measure.name} in ${count(samples)} ${samples === 1 ? "sample" : "samples"}, most of it in ${nameOf(largest)} (${value(largestValue)})`;
  const times = lanes.map(() => h("div", { class: "lane-time" }));
  const hasThreads = lanes.some(({ thread }) => thread !== null);
  const profiles = table<BoxRow>({
    label: `${measure.name} by profile`, rows: lanes.flatMap((lane) => lane.boxes.map((box) => ({ lane, box }))),
    columns: [
      { id: "lane", title: hasThreads ? "Thread" : "Service", cell: ({ lane }) => laneName(lane) },
      { id: "time", title: `Profile (${zoneOf(first / 1e6)})`, key: ({ box }) => -box.fromNs, cell: ({ box }) => `${timeOf(box.fromNs)} \u2013 ${timeOf(box.untilNs)}` },
      { id: "value", title: measure.name, numeric: true, key: ({ box }) => box.value, cell: ({ box }) => value(box.value) },
      { id: "samples", title: "Samples", numeric: true, key: ({ box }) => box.samples, cell: ({ box }) => count(box.samples) },
      { id: "largest", title: "Span with the most", cell: ({ box }) => h("button", { type: "button", class: "small", onclick: () => { onSelect(box.largest); } }, `${nameOf(box.largest)} (${value(box.largestValue)})`) },
    ],
  });

  return {
    element: h("section", { class: "lanes", "aria-label": `${measure.name} by thread and profile` },
      h("h2", {}, hasThreads ? `${measure.name} by thread` : `${measure.name} over time`),
      h("p", { class: "faint" }, `Each box is one profile. Its height is the ${measure.name} of this trace per second. A profile does not contain the times of its samples, so their order within a box is not known.`
        + (hasThreads ? "" : " The profiles have no labels of threads (option report_thread_name), so all threads of a service are in one lane.")),
      h("div", { class: "lane-rows", "aria-hidden": "true" }, ...lanes.map((lane, at) => h("div", { class: "lane" },
        h("span", { class: "lane-name", title: laneName(lane) }, laneName(lane)), h("span", { class: "number" }, value(lane.value)), times[at]))),
      h("details", {}, h("summary", {}, "Table of the profiles"), profiles.element)),
    draw(part) {
      lanes.forEach(({ boxes }, at) => {
        times[at]!.replaceChildren(...boxes.map((box) => boxElement(box, part, most, textOf(box), () => { onSelect(box.largest); }))
          .filter((element) => element !== null));
      });
    },
  };
}
