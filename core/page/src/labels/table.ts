/** The table of a label's values: totals, averages and deviations of their profiles. */
import type { WireLabelValue } from "../model/wire.ts";
import { amount, count, percent } from "../parts/format.ts";
import { h, replaceContent, safeText } from "../parts/dom.ts";
import { toggled, type Column, type Order } from "./order.ts";

const VALUE_MAX = 120;
/** Averages of fewer profiles are unreliable. */
const PROFILES_FEW = 10;

export interface TableOptions {
  label: string;
  unit: string;
  hrefOf: (value: WireLabelValue) => string;
  tick: (value: WireLabelValue) => HTMLElement;
  include: (value: WireLabelValue) => HTMLElement;
  onOrder: (order: Order) => void;
}

const HEADS: readonly (readonly [Column, string])[] = [
  ["value", "Value"], ["total", "Total"], ["average", "Average"], ["deviation", "Deviation"], ["profiles", "Profiles"],
];

export function valueName(value: string | null): string {
  return value === null ? "(no value)" : value === "" ? "(empty)" : safeText(value, VALUE_MAX);
}

function row(value: WireLabelValue, { unit, hrefOf, tick, include }: TableOptions): HTMLElement {
  const bar = h("span", { class: "share-bar" });
  const isFew = value.profiles < PROFILES_FEW;

  bar.style.width = `${Math.max(0, Math.min(1, value.share)) * 100}%`;
  return h("tr", isFew ? { class: "few" } : {},
    h("th", { scope: "row" }, h("span", { class: "value-name" }, tick(value), h("a", { href: hrefOf(value) }, valueName(value.value)), include(value))),
    h("td", {}, amount(value.total, unit)),
    h("td", { class: "share" }, bar, h("span", {}, percent(value.share))),
    h("td", {}, amount(value.average, unit)),
    h("td", {}, value.profiles < 2 ? "\u2013" : `\u00b1 ${amount(value.deviation, unit)}`),
    h("td", isFew ? { title: `Fewer than ${PROFILES_FEW} profiles: the average is unreliable` } : {}, `${count(value.profiles)}${isFew ? " (few)" : ""}`));
}

/** Updates its rows in place, which preserves focus and scroll position. */
export class ValueTable {
  readonly element: HTMLElement;
  private readonly head = h("tr", {});
  private readonly body = h("tbody", {});

  constructor(private readonly options: TableOptions) {
    this.element = h("div", { class: "table-scroll", role: "region", tabindex: "0", "aria-label": `Values of ${safeText(options.label, VALUE_MAX)}` },
      h("table", { class: "values" }, h("thead", {}, this.head), this.body));
  }

  show(values: readonly WireLabelValue[], order: Order): void {
    const heads = HEADS.map(([column, text]) => {
      const sorted = order.column === column;
      const button = h("button", { type: "button", "aria-label": text, onclick: () => { this.options.onOrder(toggled(order, column)); } },
        text, sorted && h("span", { "aria-hidden": "true" }, order.isAscending ? " \u25b4" : " \u25be"));
      return h("th", { scope: "col", "aria-sort": sorted ? (order.isAscending ? "ascending" : "descending") : "none" }, button);
    });

    heads.splice(2, 0, h("th", { scope: "col" }, "Share"));
    replaceContent(this.head, ...heads);
    replaceContent(this.body, ...values.map((value) => row(value, this.options)));
  }
}
