/** Span names in two ranges of equal length: how much their values changed, and the
 * noise of each change.
 *
 * A request with 100 samples is one event, not 100. Let a name have m samples per span,
 * and let the cost of its spans vary by as much as its average. Then the variance of a
 * number of samples is about 1 + m times that of independent samples. So the numbers of
 * samples are divided by 1 + m before the bound of model/comparison.ts is applied. */
import { isSplitByChance } from "../model/comparison.ts";
import type { WireSpan } from "../model/wire.ts";

/** Half the width of the 95 % confidence interval, in standard deviations. */
const CONFIDENCE = 1.96;

/** A span name with its values in both ranges. */
export interface ChangedName {
  readonly name: string | null;
  readonly service: string | null;
  readonly base: WireSpan | null;
  readonly now: WireSpan | null;
}

export interface NameChange {
  /** null: no spans. */
  readonly base: number | null;
  readonly now: number | null;
  /** Half the width of the 95 % confidence interval of the difference. */
  readonly margin: number;
  /** Whether chance alone may explain the difference. */
  readonly isNoise: boolean;
}

export function changedNames(base: readonly WireSpan[], now: readonly WireSpan[]): ChangedName[] {
  const before = new Map(base.map((each) => [each.name, each]));
  const present = new Set(now.map(({ name }) => name));
  const pair = (one: WireSpan | null, other: WireSpan | null): ChangedName => {
    const [a, b] = [one ?? other!, other ?? one!];
    return { name: b.name, service: a.service === b.service ? b.service : null, base: one, now: other };
  };

  return [...now.map((each) => pair(before.get(each.name) ?? null, each)),
    ...base.filter(({ name }) => !present.has(name)).map((each) => pair(each, null))];
}

interface Side {
  total: number;
  samples: number;
  spans: number;
}

const NONE: Side = { total: 0, samples: 0, spans: 0 };

/** The value of one sample; for an empty side, the other side's. */
function weightOf(side: Side, other: Side): number {
  return side.samples > 0 ? side.total / side.samples : other.samples > 0 ? other.total / other.samples : 1;
}

/** Compares the sides' values per unit of exposure: per span, or per range. */
function changeOf(base: Side, now: Side, baseExposure: number, nowExposure: number): Pick<NameChange, "margin" | "isNoise"> {
  const samples = now.samples + base.samples, spans = now.spans + base.spans;
  const events = 1 + (spans > 0 ? samples / spans : 0);
  const [weight, baseWeight] = [weightOf(now, base), weightOf(base, now)];
  const [expected, baseExpected] = [nowExposure / weight, baseExposure / baseWeight];
  const share = expected / (expected + baseExpected);
  const variance = (side: Side, each: number, exposure: number): number => side.samples * events * (each / exposure) ** 2;
  const difference = now.total / nowExposure - base.total / baseExposure;

  return {
    margin: CONFIDENCE * Math.sqrt(variance(now, weight, nowExposure) + variance(base, baseWeight, baseExposure)),
    // Samples may have different weights, so counts and values may change in opposite
    // directions.
    isNoise: isSplitByChance(now.samples / events, base.samples / events, share) || Math.sign(difference) !== Math.sign(now.samples - samples * share),
  };
}

export function totalChange({ base, now }: ChangedName): NameChange {
  return { base: base?.total ?? null, now: now?.total ?? null, ...changeOf(base ?? NONE, now ?? NONE, 1, 1) };
}

/** The change of the average per span. If one side has no spans of the name, this side
 * has no average, and the change of the total decides whether the change is noise. */
export function perSpanChange(row: ChangedName): NameChange {
  const { base, now } = row;
  const average = (side: WireSpan | null): number | null => side && side.spans > 0 ? side.total / side.spans : null;
  const values = { base: average(base), now: average(now) };

  if (!base || !now || values.base === null || values.now === null)
    return { ...totalChange(row), ...values, margin: 0 };
  return { ...values, ...changeOf(base, now, base.spans, now.spans) };
}

export function differenceOf({ base, now }: Pick<NameChange, "base" | "now">): number {
  return (now ?? 0) - (base ?? 0);
}
