/** One row of a waterfall: a span's name, indented by depth, its values, and a bar for
 * its duration that contains its CPU time. */
import { h, safeText } from "../parts/dom.ts";
import { amount } from "../parts/format.ts";
import { fewSamples, nameText } from "../spans/cells.ts";
import type { Branch, Forest } from "./forest.ts";

export const ROW_HEIGHT = 26;
/** Deeper rows are not indented further. */
const DEPTH_SHOWN_MAX = 24;
const STATUS_ERROR = 2;

export interface RowState {
  open: boolean;
  selected: boolean;
  unit: string;
  /** The address of the span's page. */
  href: string;
}

/** The colour of a service, by hash of its name: one of eight that colour-blind people
 * can distinguish. */
export function serviceClass(service: string): string {
  let hash = 7;

  for (let at = 0; at < service.length; at++)
    hash = (hash * 31 + service.charCodeAt(at)) >>> 0;
  return `service-${hash % 8}`;
}

function percentOf(part: number, whole: number): string {
  return `${(whole > 0 ? Math.min(1, Math.max(0, part / whole)) * 100 : 0).toFixed(3)}%`;
}

function bar({ span, beginNs }: Branch, forest: Forest): HTMLElement {
  const total = h("i", { class: "bar-total" });
  const self = h("i", { class: "bar-self" });
  const whole = h("div", { class: `time-bar ${serviceClass(span.service)}` }, total, self);

  whole.style.left = percentOf(beginNs, forest.lengthNs);
  whole.style.width = percentOf(span.durationNs, forest.lengthNs);
  total.style.width = percentOf(span.total, span.durationNs);
  self.style.width = percentOf(span.own, span.durationNs);
  return whole;
}

/** The text of the duration. It is after the bar or, if there is no space, before or
 * inside the bar. */
function barText({ span, beginNs }: Branch, forest: Forest): HTMLElement {
  const text = h("span", { class: "bar-text" }, amount(span.durationNs, "nanoseconds"));
  const end = (beginNs + span.durationNs) / (forest.lengthNs || 1);

  if (end < 0.85) {
    text.style.left = `calc(${(end * 100).toFixed(3)}% + 4px)`;
  } else if (beginNs / (forest.lengthNs || 1) > 0.15) {
    text.style.right = `calc(${((1 - beginNs / (forest.lengthNs || 1)) * 100).toFixed(3)}% + 4px)`;
  } else {
    text.classList.add("inside");
    text.style.right = "4px";
  }
  return text;
}

function badges(branch: Branch): HTMLElement {
  const { span, orphan, shiftedNs } = branch;

  return h("span", { class: "badges" },
    span.status === STATUS_ERROR && h("span", { class: "tag error", title: safeText(span.statusMessage || "error") }, "error"),
    orphan && h("span", { class: "tag", title: "The parent span is missing" }, "no parent"),
    shiftedNs > 0 && h("span", {
      class: "tag", title: `This span was recorded before its parent, because host clocks differ. It is drawn ${amount(shiftedNs, "nanoseconds")} later.`,
    }, "clock"));
}

function nameCell(branch: Branch, display: RowState): HTMLElement {
  const { span, depth, descendants: below } = branch;
  const cell = h("div", { role: "gridcell", class: "name" },
    h("span", { class: below ? "twist" : "twist none", "aria-hidden": "true" }, below ? display.open ? "\u25be" : "\u25b8" : ""),
    h("span", { class: `swatch ${serviceClass(span.service)}`, "aria-hidden": "true" }),
    h("a", { class: "text", href: display.href, tabindex: "-1", title: safeText(`${span.name} \u2013 ${span.service}`) }, nameText(span.name)),
    h("span", { class: "service" }, safeText(span.service, 60)), badges(branch));

  cell.style.paddingLeft = `${4 + Math.min(depth, DEPTH_SHOWN_MAX) * 14}px`;
  return cell;
}

function valueCell(value: number, samples: number | null, unit: string): HTMLElement {
  return h("div", { role: "gridcell", class: "number" }, value === 0 ? "\u2013" : amount(value, unit),
    value !== 0 && samples !== null && fewSamples(samples));
}

/** `index` is the branch's index, `position` its visible row from 0. */
export function waterfallRow(forest: Forest, index: number, position: number, display: RowState): HTMLElement {
  const branch = forest.branches[index]!;
  const { span } = branch;
  const row = h("div", {
    role: "row", id: `trace-row-${index}`, class: display.selected ? "row selected" : "row",
    "aria-level": branch.depth + 1, "aria-rowindex": position + 2, "aria-selected": String(display.selected),
    "aria-expanded": branch.descendants ? String(display.open) : undefined, "data-index": index,
  },
  nameCell(branch, display), valueCell(span.own, span.samples, display.unit), valueCell(span.total, null, display.unit),
  h("div", { role: "gridcell", class: "time" }, bar(branch, forest), barText(branch, forest)));

  row.style.top = `${position * ROW_HEIGHT}px`;
  return row;
}
