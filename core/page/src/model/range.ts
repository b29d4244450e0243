/** Time ranges: those of addresses, those that a user types, and their names. */
import { moment } from "../parts/format.ts";
import { readPeriod } from "./times.ts";

export interface Range {
  fromMs: number;
  untilMs: number;
}

/** The default range, the same as the server's. */
export const FROM_DEFAULT = "now-1h";
export const UNTIL_DEFAULT = "now";

/** "Zoom out" treats shorter ranges as if they had this length. */
export const RANGE_MIN_MS = 1000;

/** Returns milliseconds since 1970 for a time of an address, which is in UTC without a
 * zone. Returns null for a time that the server would refuse. */
export function readTime(text: string, nowMs: number): number | null {
  return readPeriod(text, nowMs, "utc")?.fromMs ?? null;
}

/** Formats a time as a parameter with 13 digits, since the server reads shorter numbers
 * as seconds. */
function timeText(ms: number): string {
  return String(Math.max(0, Math.round(ms))).padStart(13, "0");
}

/** Relative times stay as they are, since they mean the same in every time zone. */
function typedText(text: string, ms: number): string {
  const trimmed = text.trim().replace(/^([+-])/, "now$1");

  return /^now[^/]*$/.test(trimmed) ? trimmed : timeText(ms);
}

/** Converts a typed time to a parameter. Days and times are in the page's time zone by
 * default. Returns null if it cannot parse the text. */
export function typedTime(text: string, nowMs: number): string | null {
  const ms = readPeriod(text, nowMs, "local")?.fromMs ?? -1;

  return ms < 0 ? null : typedText(text, ms);
}

/** Whether a text names a day, a week or another period. */
export function isPeriod(text: string): boolean {
  const found = readPeriod(text, Date.now(), "local");

  return found !== null && found.fromMs < found.untilMs;
}

/** The end of a range: the beginning of `until` or, if the range would then be empty, its
 * end. So "yesterday" as both ends is the whole day. */
function endOf(from: Range, until: Range): number {
  return until.fromMs > from.fromMs ? until.fromMs : until.untilMs;
}

/** Converts the typed ends of a range to parameters. Without a second text, a day or a
 * week is the range, and other ranges end at the present. Returns the text that it cannot
 * parse as `invalid`. */
export function typedRange(from: string, until: string, nowMs: number): { from: string; until: string } | { invalid: string } {
  const end = until.trim() !== "" ? until : isPeriod(from) ? from : UNTIL_DEFAULT;
  const [begins, ends] = [readPeriod(from, nowMs, "local"), readPeriod(end, nowMs, "local")];

  if (!begins || begins.fromMs < 0)
    return { invalid: from };
  return ends && ends.fromMs >= 0 ? { from: typedText(from, begins.fromMs), until: typedText(end, endOf(begins, ends)) } : { invalid: until };
}

/** The message about a text that is no time. */
export function unreadable(text: string): string {
  return `Can\u2019t read \u201c${text}\u201d. Try 2026-11-26 13:00 or now-90m.`;
}

/** The range of two parameters, or null if one cannot be parsed. Without `until`, a day
 * or a week is the range, as on the server. */
export function rangeOf(from: string | undefined, until: string | undefined, nowMs = Date.now()): Range | null {
  const begins = readPeriod(from ?? FROM_DEFAULT, nowMs, "utc");
  const ends = until === undefined && begins && begins.fromMs < begins.untilMs ? begins : readPeriod(until ?? UNTIL_DEFAULT, nowMs, "utc");

  return begins && ends && { fromMs: begins.fromMs, untilMs: endOf(begins, ends) };
}

/** Whether the range is relative to the present, so that it moves with the clock. */
export function isRelative(from: string | undefined, until: string | undefined): boolean {
  return (from ?? FROM_DEFAULT).startsWith("now") || (until ?? UNTIL_DEFAULT).startsWith("now");
}

export function moved(range: Range, share: number): Range {
  const by = Math.round((range.untilMs - range.fromMs) * share);

  return { fromMs: range.fromMs + by, untilMs: range.untilMs + by };
}

/** A range twice as long around the same middle, but not into the future. */
export function widened(range: Range, nowMs: number): Range {
  const half = Math.max(RANGE_MIN_MS, range.untilMs - range.fromMs) / 2;
  const untilMs = Math.min(Math.round(range.untilMs + half), Math.max(nowMs, range.untilMs));

  return { fromMs: Math.max(0, Math.round(range.fromMs - half)), untilMs };
}

/** The range as parameters of an address. */
export function rangeChange(range: Range): { from: string; until: string } {
  return { from: timeText(range.fromMs), until: timeText(range.untilMs) };
}

export const PRESETS: readonly (readonly [from: string, name: string])[] = [
  ["now-5m", "Last 5 minutes"], ["now-15m", "Last 15 minutes"], ["now-30m", "Last 30 minutes"], ["now-1h", "Last hour"],
  ["now-3h", "Last 3 hours"], ["now-6h", "Last 6 hours"], ["now-12h", "Last 12 hours"], ["now-1d", "Last 24 hours"],
  ["now-2d", "Last 2 days"], ["now-7d", "Last 7 days"], ["now-30d", "Last 30 days"],
];

/** The display name of a range: its preset's name, or both ends. */
export function rangeName(from: string | undefined, until: string | undefined): string {
  const preset = PRESETS.find(([each]) => each === (from ?? FROM_DEFAULT));
  const now = Date.now();
  const endText = (text: string): string => {
    const ms = text.startsWith("now") ? null : readTime(text, now);
    return ms === null || !Number.isFinite(ms) || Math.abs(ms) > 8.64e15 ? text.slice(0, 40) : moment(ms);
  };

  return preset && (until ?? UNTIL_DEFAULT) === "now"
    ? preset[1]
    : `${endText(from ?? FROM_DEFAULT)} \u2013 ${endText(until ?? UNTIL_DEFAULT)}`;
}
