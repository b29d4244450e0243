/** Texts for differences: shares in percent, values in their unit. */
import type { Comparison } from "../model/comparison.ts";
import { amount, percent } from "./format.ts";

export const NOISE_HINT = "The difference is within sampling noise";

/** Returns the text that replaces a difference within sampling noise. */
export function noiseText(comparison: Comparison, value: number, base: number): string {
  return comparison.isSame(value, base) ? "same" : "noise";
}

/** Formats the absolute value and adds the number's sign. */
export function signed(number: number, text: (size: number) => string): string {
  const size = text(Math.abs(number));

  return /[1-9]/.test(size) ? `${number > 0 ? "+" : "\u2212"}${size}` : size;
}

export function sideText(comparison: Comparison, side: "base" | "now", value: number, unit: string): string {
  return comparison.scale === "shares" ? percent(value / comparison[side].total) : amount(value, unit);
}

/** Differences of shares are percentage points. */
export function differenceText({ scale, base, now }: Comparison, value: number, baseValue: number, unit: string): string {
  return scale === "shares"
    ? signed((value / now.total - baseValue / base.total) * 100, (size) => `${size.toFixed(2)} pp`)
    : signed(value - baseValue, (size) => amount(size, unit));
}

/** "+12.3 %", "new", "gone". */
export function growthText({ factor }: Comparison, value: number, baseValue: number): string {
  const base = baseValue * factor;

  if (base === 0)
    return value === 0 ? "\u2013" : "new";
  return value === 0 ? "gone" : signed((value - base) / base, percent);
}
