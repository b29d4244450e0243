/** One row of a waterfall: a span's name, indented by depth, its values, and a bar for
 * its duration that contains its CPU time. */
import { h, safeText } from "../parts/dom.ts";
import { amount } from "../parts/format.ts";
import { fewSamples, nameText } from "../spans/cells.ts";
import type { Branch, Forest } from "./forest.ts";
import type { Part } from "./part.ts";

export const ROW_HEIGHT = 26;
/** Deeper rows are not indented further. */
const DEPTH_SHOWN_MAX = 24;
const STATUS_ERROR = 2;

export interface RowState {
  open: boolean;
  selected: boolean;
  unit: string;
  /** The shown time of the trace. */
  part: Part;
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

function percentText(share: number): string {
  return `${(Math.min(1, Math.max(0, share)) * 100).toFixed(3)}%`;
}

/** The share of `whole` that the part `value` from its begin covers. */
function endOf(value: number, whole: number): number {
  return whole > 0 ? Math.min(1, value / whole) : 0;
}

/** Places the bar at the part of its span that is in the shown time, since browsers
 * limit the width of elements. Returns null if nothing of the span is. */
function bar({ span, beginNs }: Branch, { fromNs, untilNs }: Part): HTMLElement | null {
  const from = Math.max(fromNs, beginNs), until = Math.min(untilNs, beginNs + span.durationNs);
  const whole = untilNs - fromNs, width = until - from;
  const inside = (value: number): string =>
    percentText(width > 0 ? (beginNs + endOf(value, span.durationNs) * span.durationNs - from) / width : 0);
  const total = h("i", { class: "bar-total" });
  const self = h("i", { class: "bar-self" });

  if (until < from)
    return null;
  const element = h("div", { class: `time-bar ${serviceClass(span.service)}` }, total, self);
  element.style.left = percentText((from - fromNs) / whole);
  element.style.width = percentText(width / whole);
  total.style.width = inside(span.total);
  self.style.width = inside(span.own);
  return element;
}

/** The text of the duration. It is after the bar or, if there is no space, before or
 * inside the bar. For a span outside of the shown time, an arrow points to the span. */
function barText({ span, beginNs }: Branch, { fromNs, untilNs }: Part): HTMLElement {
  const duration = amount(span.durationNs, "nanoseconds");
  const text = h("span", { class: "bar-text" }, duration);
  const begin = (beginNs - fromNs) / (untilNs - fromNs), end = (beginNs + span.durationNs - fromNs) / (untilNs - fromNs);

  if (end < 0) {
    text.textContent = `\u25c2 ${duration}`;
    text.style.left = "4px";
  } else if (begin > 1) {
    text.textContent = `${duration} \u25b8`;
    text.style.right = "4px";
  } else if (end < 0.85) {
    text.style.left = `calc(${percentText(end)} + 4px)`;
  } else if (begin > 0.15) {
    text.style.right = `calc(${percentText(1 - begin)} + 4px)`;
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
  h("div", { role: "gridcell", class: "time" }, bar(branch, display.part), barText(branch, display.part)));

  row.style.top = `${position * ROW_HEIGHT}px`;
  return row;
}
