/** Cells shared by the tables of spans. */
import { h, safeText } from "../parts/dom.ts";
import { amount, count, relativeError, percent } from "../parts/format.ts";

const SAMPLES_FEW = 10;

/** Returns a mark for values with too few samples; null if there are enough. */
export function fewSamples(samples: number): HTMLElement | null {
  return samples >= SAMPLES_FEW ? null : h("span", {
    class: "tag few", title: `Fewer than ${SAMPLES_FEW} samples: unreliable`,
  }, "few");
}

export function samplesCell(samples: number): HTMLElement {
  const wide = relativeError(samples);

  return h("span", { class: "samples" }, h("span", {
    title: wide === null ? undefined : `\u00b1 ${percent(wide)} (95 % confidence interval)`,
  }, count(samples)), " ", fewSamples(samples));
}

/** A value, with a bar whose length is its share of `most`. */
export function valueBar(value: number, most: number, unit: string, samples: number): HTMLElement {
  const bar = h("i", { class: samples < SAMPLES_FEW ? "share few" : "share", "aria-hidden": "true" });

  bar.style.width = `${most > 0 ? Math.max(0, Math.min(100, value / most * 100)) : 0}%`;
  return h("span", { class: "value" }, bar, h("span", {}, amount(value, unit)));
}

/** Only spans in traces have durations. */
export function durationText(ns: number | undefined): string {
  return ns === undefined ? "\u2013" : amount(ns, "nanoseconds");
}

export function idText(id: string): HTMLElement {
  return h("code", { class: "id" }, id);
}

/** Names of spaces and other invisible characters. */
const BLANK = /^[\s\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3164\ufeff\uffa0]+$/;

export function nameText(name: string | null): string {
  if (name === null)
    return "(no name)";
  if (name === "")
    return "(empty name)";
  return BLANK.test(name) ? "(blank name)" : safeText(name, 200);
}
