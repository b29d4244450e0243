/** The two sides of a comparison, and whether a difference between them is more than
 * chance.
 *
 * Sample counts of independent events are Poisson distributed. Let one frame have n = a
 * + b samples, a on the new side and b on the base side. If nothing changed, the
 * expected count of the new side is n q, where q is its share of the samples when both
 * sides have equal amounts. Chernoff's bound of the binomial distribution (H. Chernoff,
 * A measure of asymptotic efficiency, Ann. Math. Stat. 23, 1952) says that a split at
 * least as uneven as a : b has a probability of at most
 *
 * 2 exp(-G),  G = a ln(a / (n q)) + b ln(b / (n (1 - q))),
 *
 * for all counts, small ones included. A difference is noise where this bound is above
 * NOISE_MAX. Equal inputs have G = 0. With q = 1/2, a new frame needs 18 samples to
 * differ, and 2,000 samples need a difference of 221 between the sides. */

export const SCALES = ["shares", "values"] as const;
/** The compared numbers: shares of each side's total, or the measured values. */
export type Scale = (typeof SCALES)[number];

/** The largest probability that an unchanged frame is coloured by chance. */
const NOISE_MAX = 1e-5;
/** The relative rounding error of a quotient. */
const ROUNDING = 1e-9;

/** The totals of one side; samples are null if they are not known. */
export interface Sums {
  readonly total: number;
  readonly samples: number | null;
}

/** x ln(x / expected); 0 for x = 0. */
function weighed(x: number, expected: number): number {
  return x > 0 ? x * Math.log(x / expected) : 0;
}

/** Whether chance alone may explain how a frame's samples are split between the
 * sides. */
export function isSplitByChance(samples: number, baseSamples: number, share: number): boolean {
  const all = samples + baseSamples;

  return 2 * Math.exp(-weighed(samples, all * share) - weighed(baseSamples, all * (1 - share))) > NOISE_MAX;
}

/** The value of one sample; for an empty side, the other side's. */
function weightOf(side: Sums, other: Sums): number {
  const [known, spare] = [side, other].map(({ total, samples }) => samples && total > 0 ? total / samples : null);

  return known ?? spare ?? 1;
}

export class Comparison {
  /** Factor for values of the base: 1, or the factor that makes the totals of both
   * sides equal. */
  readonly factor: number;
  readonly scale: Scale;
  /** The new side's expected share of the samples when both sides have equal amounts. */
  private readonly share: number;

  /** If the total of a side is 0, it has no shares, so values are compared in any case.
   */
  constructor(readonly base: Sums, readonly now: Sums, scale: Scale = "shares") {
    this.scale = base.total > 0 && now.total > 0 ? scale : "values";
    this.factor = this.scale === "shares" ? now.total / base.total : 1;
    const [exposure, baseExposure] = [this.factor / weightOf(now, base), 1 / weightOf(base, now)];
    this.share = exposure / (exposure + baseExposure);
  }

  by(scale: Scale): Comparison {
    return new Comparison(this.base, this.now, scale);
  }

  isSame(value: number, base: number): boolean {
    const scaled = base * this.factor;

    return Math.abs(value - scaled) <= ROUNDING * Math.max(Math.abs(value), Math.abs(scaled));
  }

  isNoise(value: number, base: number, samples: number | null, baseSamples: number | null): boolean {
    if (samples === null || baseSamples === null)
      return this.isSame(value, base);
    // A difference is noise if the counts may differ by chance. It is also noise if
    // counts and values changed in opposite directions, since samples may have
    // different weights.
    return isSplitByChance(samples, baseSamples, this.share)
      || Math.sign(value - base * this.factor) !== Math.sign(samples - (samples + baseSamples) * this.share);
  }

  /** The binary logarithm of the change, from -1 (half, less or gone) to 1 (twice,
   * more or new); 0 if it is noise. */
  change(value: number, base: number, samples: number | null, baseSamples: number | null): number {
    const scaled = base * this.factor;

    if (this.isNoise(value, base, samples, baseSamples))
      return 0;
    return value > 0 && scaled > 0 ? Math.max(-1, Math.min(1, Math.log2(value / scaled))) : Math.sign(value - scaled);
  }
}
