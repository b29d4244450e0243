/** Formats numbers with their unit and three significant digits, and times. */
import { zoned } from "./zone.ts";

const SCALES: Record<string, readonly (readonly [number, string])[]> = {
  nanoseconds: [[3.6e12, "h"], [6e10, "min"], [1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"], [1, "ns"]],
  bytes: [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]],
  other: [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]],
};

/** Formats a value: 1234567890 nanoseconds become "1.23 s". */
export function amount(value: number, unit: string): string {
  const scales = SCALES[unit] ?? SCALES["other"]!;
  // Choose the next larger unit for values that would be rounded to 1000.
  const [size, name] = scales.find(([each]) => Math.abs(value) >= each * 0.9995) ?? scales[scales.length - 1]!;
  const scaled = value / size;
  const digits = size === 1 || Math.abs(scaled) >= 100 ? 0 : Math.abs(scaled) >= 10 ? 1 : 2;

  return `${fixed(scaled, digits)} ${name}`.trim();
}

/** Like toFixed(), but without a sign if the result is zero. */
function fixed(value: number, digits: number): string {
  const text = value.toFixed(digits);

  return Number(text) === 0 ? text.replace("-", "") : text;
}

/** Formats a share: 0.1234 becomes "12.3 %". */
export function percent(share: number): string {
  return Number.isFinite(share) ? `${fixed(share * 100, Math.abs(share) < 0.01 && share !== 0 ? 2 : 1)} %` : "\u2013";
}

export function count(value: number): string {
  return value.toLocaleString("en");
}

/** Formats a time in the time zone of the page: "2026-11-23 15:04:05". */
export function moment(ms: number): string {
  const date = zoned(ms);
  const two = (number: number): string => String(number).padStart(2, "0");

  return `${date.getUTCFullYear()}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())} `
    + `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`;
}

/** Like moment(), with the milliseconds unless they are zero. */
export function exactMoment(ms: number): string {
  const milliseconds = Math.floor(ms) % 1000;

  return milliseconds === 0 ? moment(ms) : `${moment(ms)}.${String(milliseconds).padStart(3, "0")}`;
}

/** Values with fewer samples are too uncertain to be ranked. */
const SAMPLES_FEW = 10;

/** The relative error of a sample count: half the width of its 95 % confidence
 * interval. Returns null for fewer than ten samples. */
export function relativeError(samples: number): number | null {
  return samples < SAMPLES_FEW ? null : 1.96 / Math.sqrt(samples);
}

/** Whether both sides of a comparison have too few samples for a reliable
 * difference. null means that a side is missing or its count not known. */
export function fewOf(base: number | null, now: number | null): boolean {
  return (base !== null || now !== null) && Math.max(base ?? 0, now ?? 0) < SAMPLES_FEW;
}

/** Formats the sample counts of both sides: "120 → 95". */
export function samplesPair(base: number | null, now: number | null): string {
  const text = (samples: number | null): string => samples === null ? "?" : count(samples);

  return `${text(base)} \u2192 ${text(now)}`;
}
