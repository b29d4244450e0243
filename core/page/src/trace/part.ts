/** The part of a trace's time that its waterfall shows. */

export interface Part {
  /** Nanoseconds since the start of the trace. */
  fromNs: number;
  untilNs: number;
}

/** Shorter parts are not shown. */
const LEAST_NS = 1000;

/** The part with this begin and length, moved and cut so that it lies in the trace. */
export function partWithin(fromNs: number, partNs: number, lengthNs: number): Part {
  const size = Math.min(Math.max(partNs, LEAST_NS), Math.max(lengthNs, 1));
  const begin = Math.min(Math.max(0, Math.round(fromNs)), lengthNs - size);

  return { fromNs: Math.max(0, begin), untilNs: Math.max(0, begin) + Math.round(size) };
}

export function isWhole({ fromNs, untilNs }: Part, lengthNs: number): boolean {
  return fromNs <= 0 && untilNs >= lengthNs;
}

/** Parses a part of an address. Returns the whole trace for other texts. */
export function readPart(text: string | undefined, lengthNs: number): Part {
  const found = /^(\d{1,19})-(\d{1,19})$/.exec(text ?? "");
  const from = Number(found?.[1] ?? 0), until = Number(found?.[2] ?? lengthNs);

  return from < until && from < lengthNs ? partWithin(from, until - from, lengthNs) : partWithin(0, lengthNs, lengthNs);
}

/** The part as a parameter of the address; undefined for the whole trace. */
export function partText(part: Part, lengthNs: number): string | undefined {
  return isWhole(part, lengthNs) ? undefined : `${part.fromNs}-${part.untilNs}`;
}

/** A part `factor` times as long, in which `aroundNs` stays at its place. */
export function scaledPart({ fromNs, untilNs }: Part, factor: number, aroundNs: number, lengthNs: number): Part {
  const around = Math.min(Math.max(aroundNs, fromNs), untilNs);

  return partWithin(around - (around - fromNs) * factor, (untilNs - fromNs) * factor, lengthNs);
}

/** The part moved by a share of its length. */
export function movedPart({ fromNs, untilNs }: Part, share: number, lengthNs: number): Part {
  return partWithin(fromNs + (untilNs - fromNs) * share, untilNs - fromNs, lengthNs);
}
