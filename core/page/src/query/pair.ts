/** Two ticked values of a list, and links that compare them over the same range. */
import { h, replaceContent } from "../parts/dom.ts";
import { toOtherView } from "../spans/links.ts";
import type { View } from "../views/view.ts";

/** Longer ticks are not in the address, whose length is limited. */
const ADDRESS_MAX = 2000;

/** null stands for series or spans without a value. */
export type PairValue = string | null;

export interface PairOptions {
  view: View;
  /** The noun for a value, for example "span name". */
  noun: string;
  textOf: (value: PairValue) => string;
  queryOf: (value: PairValue) => string;
  /** Called after a change. Must draw the list again. */
  onChange: () => void;
}

function isValues(value: unknown): value is PairValue[] {
  return Array.isArray(value) && value.length <= 2 && value.every((each) => each === null || typeof each === "string");
}

/** Returns null if the address has no valid values. */
function valuesIn(text: string | undefined): PairValue[] | null {
  try {
    const values: unknown = JSON.parse(text ?? "null");
    return isValues(values) ? values : null;
  } catch {
    return null;
  }
}

export class Pair {
  readonly element = h("p", { class: "pair", role: "group" });
  /** The ticked values; the baseline comes first. null until the user ticks a value. */
  private ticked: readonly PairValue[] | null;
  private defaults: readonly PairValue[] = [];

  constructor(private readonly options: PairOptions) {
    this.ticked = valuesIn(options.view.state.parameters["ticked"]);
    this.element.setAttribute("aria-label", `Compare two ${options.noun}s`);
    this.draw();
  }

  /** Sets the values that are ticked until the user ticks one. */
  setDefaults(defaults: readonly PairValue[]): void {
    this.defaults = defaults;
    this.draw();
  }

  checkbox(value: PairValue): HTMLElement {
    const { noun, textOf } = this.options;
    const box = h("input", {
      type: "checkbox", class: "tick", title: `Tick two ${noun}s to compare them`, "aria-label": `Compare ${noun} ${textOf(value)}`,
      onchange: () => { this.toggle(value); },
    });

    box.checked = this.values().includes(value);
    return box;
  }

  /** Returns a link that compares a value with the baseline. Returns null if there is no
   * baseline, or if the value is the baseline. */
  diffLink(value: PairValue): HTMLElement | null {
    const { textOf } = this.options;
    const [base] = this.values();
    const text = base === undefined ? "" : `Diff: baseline ${textOf(base)}, comparison ${textOf(value)}`;

    return base === undefined || base === value ? null
      : h("a", { class: "diff", href: this.address(base, value, "comparison-diff"), title: text, "aria-label": text });
  }

  private values(): readonly PairValue[] {
    return this.ticked ?? this.defaults;
  }

  /** Ticks or unticks a value. The user's first tick removes the default ticks, so that the
   * value becomes the baseline. A third tick removes the oldest tick. */
  private toggle(value: PairValue): void {
    const before = this.ticked ?? (this.defaults.includes(value) ? this.defaults : []);
    const values = before.includes(value) ? before.filter((each) => each !== value) : [...before, value].slice(-2);
    const text = JSON.stringify(values);

    this.ticked = values;
    this.options.view.updateAddress({ ticked: text.length > ADDRESS_MAX ? undefined : text });
    this.draw();
    this.options.onChange();
  }

  private draw(): void {
    const { noun, textOf } = this.options;
    const [base, now] = this.values();

    if (base === undefined || now === undefined) {
      this.element.replaceChildren(base === undefined ? `Tick two ${noun}s to compare them.` : `Tick another ${noun}, or click Diff in its row, to compare it with ${textOf(base)}.`);
      return;
    }
    replaceContent(this.element,
      h("span", { class: "side-name" }, `Baseline: ${textOf(base)}`), h("span", { class: "side-name right" }, `Comparison: ${textOf(now)}`),
      h("a", { class: "button", href: this.address(base, now, "comparison-diff") }, "Diff"),
      h("a", { class: "button", href: this.address(base, now, "comparison") }, "Compare"));
  }

  private address(base: PairValue, now: PairValue, to: "comparison" | "comparison-diff"): string {
    const { view, queryOf } = this.options;

    return view.address(toOtherView({ leftQuery: queryOf(base), rightQuery: queryOf(now) }), to);
  }
}
