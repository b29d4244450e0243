/** The two time ranges of a comparison: the baseline and the comparison. */
import { BASELINES, baselineRange, type BaselineName } from "./baseline.ts";
import { RANGE_MIN_MS, moved, type Range } from "./range.ts";

export interface RangePair {
  left: Range;
  right: Range;
}

function lengthOf(range: Range): number {
  return range.untilMs - range.fromMs;
}

export function overlap(a: Range, b: Range): boolean {
  return a.fromMs < b.untilMs && b.fromMs < a.untilMs;
}

export function isSameRange(a: Range, b: Range): boolean {
  return a.fromMs === b.fromMs && a.untilMs === b.untilMs;
}

/** Two ranges of equal length before and after a time. They are half as long as the
 * range that is shown, or shorter if the time has only just passed. */
export function beforeAndAfter(atMs: number, shown: Range, nowMs: number): RangePair {
  const length = Math.max(RANGE_MIN_MS, Math.min(Math.round(lengthOf(shown) / 2), nowMs - atMs));

  return { left: { fromMs: Math.max(0, atMs - length), untilMs: atMs }, right: { fromMs: atMs, untilMs: atMs + length } };
}

/** Moves a range by its length, and past `other` if it would overlap it. */
export function steppedPast(range: Range, direction: -1 | 1, other: Range): Range {
  const next = moved(range, direction);

  if (!overlap(next, other))
    return next;
  const by = direction > 0 ? other.untilMs - range.fromMs : other.fromMs - range.untilMs;
  return { fromMs: range.fromMs + by, untilMs: range.untilMs + by };
}

const BASELINE_NAMES: Readonly<Record<BaselineName, string>> = {
  before: "Before", yesterday: "Same time yesterday", week: "Same time last week",
};

/** The ranges that are offered as the baseline of a range. Only a comparison of two
 * queries has a baseline of the same time. */
export function baselinesOf(range: Range, hasTwoQueries: boolean): { name: string; range: Range }[] {
  const earlier = BASELINES.map(([name]) => ({ name: BASELINE_NAMES[name], range: baselineRange(range, name) }));

  return [...hasTwoQueries ? [{ name: "Same time", range }] : [], ...earlier.filter((each) => !overlap(each.range, range))];
}

/** A range that contains all ranges, with a margin to drag them into, but not into the
 * future. */
export function around(ranges: readonly Range[], nowMs: number): Range {
  const fromMs = Math.min(...ranges.map((each) => each.fromMs)), untilMs = Math.max(...ranges.map((each) => each.untilMs));
  const margin = Math.round((untilMs - fromMs) / 10);

  return { fromMs: Math.max(0, fromMs - margin), untilMs: Math.max(untilMs, Math.min(untilMs + margin, nowMs)) };
}
