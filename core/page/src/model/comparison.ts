/** The two sides of a comparison, and whether a difference between them is more
 * than chance.
 *
 * Sample counts of independent events are Poisson distributed. Of n = a + b
 * samples of one frame, a on the new side and b on the base's, the new side
 * expects n q if nothing changed, where q is its share of the samples that equal
 * amounts make on both sides. Chernoff's bound of the binomial distribution
 * (H. Chernoff, A measure of asymptotic efficiency, Ann. Math. Stat. 23, 1952)
 * says that a split at least as uneven as a : b has a probability of at most
 *
 *   2 exp(-G),  G = a ln(a / (n q)) + b ln(b / (n (1 - q))),
 *
 * for all counts, small ones included. A difference is noise where this bound is
 * above NOISE_MAX. Equal inputs have G = 0. With q = 1/2 a new frame needs 18
 * samples, and 1,000 samples on each side differ from 221 on. */

export const SCALES = ["shares", "values"] as const;
/** Shares of each side's total, or values as they were measured. */
export type Scale = (typeof SCALES)[number];

/** One in so many unchanged frames is coloured by chance, at most. */
const NOISE_MAX = 1e-5;
/** Of a quotient. */
const ROUNDING = 1e-9;

/** What one side has in all; samples are null where they are not known. */
export interface Sums {
  readonly total: number;
  readonly samples: number | null;
}

/** x ln(x / expected), 0 for 0. */
function weighed(x: number, expected: number): number {
  return x > 0 ? x * Math.log(x / expected) : 0;
}

/** Whether a frame's samples split as chance alone might split them. */
export function isSplitByChance(samples: number, baseSamples: number, share: number): boolean {
  const all = samples + baseSamples;

  return 2 * Math.exp(-weighed(samples, all * share) - weighed(baseSamples, all * (1 - share))) > NOISE_MAX;
}

/** The value of a sample; of an empty side that of the other. */
function weightOf(side: Sums, other: Sums): number {
  const [known, spare] = [side, other].map(({ total, samples }) => samples && total > 0 ? total / samples : null);

  return known ?? spare ?? 1;
}

export class Comparison {
  /** Multiplies the base's values: 1, or to equal totals. */
  readonly factor: number;
  readonly scale: Scale;
  /** The new side's share of the samples that equal amounts make. */
  private readonly share: number;

  /** Values are compared, too, where a side has nothing to have a share of. */
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
    // Samples of different weights: where counts and values went different ways,
    // the counts do not speak for the difference.
    return isSplitByChance(samples, baseSamples, this.share)
      || Math.sign(value - base * this.factor) !== Math.sign(samples - (samples + baseSamples) * this.share);
  }

  /** How often it doubled: from -1 (half, less or gone) to 1 (twice, more or
   * new); 0 within noise. */
  change(value: number, base: number, samples: number | null, baseSamples: number | null): number {
    const scaled = base * this.factor;

    if (this.isNoise(value, base, samples, baseSamples))
      return 0;
    return value > 0 && scaled > 0 ? Math.max(-1, Math.min(1, Math.log2(value / scaled))) : Math.sign(value - scaled);
  }
}
