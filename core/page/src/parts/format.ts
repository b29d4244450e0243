/** Numbers as they are read: with their unit, three digits that mean something. */

const SCALES: Record<string, readonly (readonly [number, string])[]> = {
  nanoseconds: [[3.6e12, "h"], [6e10, "min"], [1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"], [1, "ns"]],
  bytes: [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]],
  other: [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]],
};

/** 1234567890 nanoseconds are "1.23 s". */
export function amount(value: number, unit: string): string {
  const scales = SCALES[unit] ?? SCALES["other"]!;
  // What would be rounded to a thousand is one of the next unit.
  const [size, name] = scales.find(([each]) => Math.abs(value) >= each * 0.9995) ?? scales[scales.length - 1]!;
  const scaled = value / size;
  const digits = size === 1 || Math.abs(scaled) >= 100 ? 0 : Math.abs(scaled) >= 10 ? 1 : 2;

  return `${fixed(scaled, digits)} ${name}`.trim();
}

/** Shares of a comparison have fractions: what rounds to nothing has no sign. */
function fixed(value: number, digits: number): string {
  const text = value.toFixed(digits);

  return Number(text) === 0 ? text.replace("-", "") : text;
}

/** 0.1234 is "12.3 %". */
export function percent(share: number): string {
  return Number.isFinite(share) ? `${fixed(share * 100, Math.abs(share) < 0.01 && share !== 0 ? 2 : 1)} %` : "\u2013";
}

export function count(value: number): string {
  return value.toLocaleString("en");
}

/** A time of the clock in the browser's zone: "2026-11-23 15:04:05". */
export function moment(ms: number): string {
  const date = new Date(ms);
  const two = (number: number): string => String(number).padStart(2, "0");

  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} `
    + `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** With the milliseconds, where there are any. */
export function exactMoment(ms: number): string {
  const rest = Math.floor(ms) % 1000;

  return rest === 0 ? moment(ms) : `${moment(ms)}.${String(rest).padStart(3, "0")}`;
}

/** The browser's zone at a time: "UTC+05:30". */
export function zoneOf(ms: number): string {
  const minutes = -new Date(ms).getTimezoneOffset();
  const two = (number: number): string => String(number).padStart(2, "0");

  return minutes === 0 ? "UTC" : `UTC${minutes < 0 ? "\u2212" : "+"}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
}

/** Below it a row is no ranking. */
const SAMPLES_FEW = 10;

/** Few samples say little: half the width of the 95 % interval of a count, as a
 * share of it; null below ten, where a row is no ranking. */
export function doubt(samples: number): number | null {
  return samples < SAMPLES_FEW ? null : 1.96 / Math.sqrt(samples);
}

/** Do both sides of a comparison have too few samples for their difference to
 * mean something? null: not known, or no such side. */
export function fewOf(base: number | null, now: number | null): boolean {
  return (base !== null || now !== null) && Math.max(base ?? 0, now ?? 0) < SAMPLES_FEW;
}

/** The samples of both sides, as values stand beside each other. */
export function samplesPair(base: number | null, now: number | null): string {
  const text = (samples: number | null): string => samples === null ? "?" : count(samples);

  return `${text(base)} \u2192 ${text(now)}`;
}
