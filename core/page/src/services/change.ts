/** The change of a service's value since the same time of the previous day. */
import type { WireLabelValue } from "../model/wire.ts";
import { percent } from "../parts/format.ts";

export interface ServiceChange {
  /** "+12.3 %", "new", or "–" without a value to compare with. */
  readonly text: string;
  /** The difference of the averages is not larger than chance explains. */
  readonly isNoise: boolean;
}

/** 95 % of a normal distribution are within this number of standard deviations. */
const DEVIATIONS = 1.96;

/** The variance of the average of a value's profiles. */
function variance({ deviation, profiles }: WireLabelValue): number {
  return deviation * deviation / Math.max(1, profiles);
}

/** Compares the averages of profiles, because a server that was down has fewer
 * profiles. */
export function changeOf(now: WireLabelValue, before: WireLabelValue | undefined): ServiceChange {
  if (!before || before.average <= 0)
    return { text: before ? "\u2013" : "new", isNoise: false };
  const difference = now.average - before.average;
  const isNoise = now.profiles < 2 || before.profiles < 2
    || Math.abs(difference) <= DEVIATIONS * Math.sqrt(variance(now) + variance(before));
  const size = percent(Math.abs(difference) / before.average);

  return { text: /[1-9]/.test(size) ? `${difference > 0 ? "+" : "\u2212"}${size}` : size, isNoise };
}
