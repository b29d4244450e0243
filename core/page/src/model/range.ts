/** Time ranges: parses the times of addresses, like the server (unix_time.c), and
 * times that a user types. */
import { moment } from "../parts/format.ts";

export interface Range {
  fromMs: number;
  untilMs: number;
}

const DAY_MS = 86_400_000;
const UNITS: Readonly<Record<string, number>> = {
  s: 1000, m: 60_000, min: 60_000, h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS, M: 30 * DAY_MS, mon: 30 * DAY_MS, y: 365 * DAY_MS,
};

/** The default range, the same as the server's. */
export const FROM_DEFAULT = "now-1h";
export const UNTIL_DEFAULT = "now";

/** "Zoom out" treats shorter ranges as if they had this length. */
export const RANGE_MIN_MS = 1000;

/** Parses a length of time with a sign, for example "-1h30m". Returns null if the text
 * is none. */
function offsetMs(text: string): number | null {
  const sign = text.startsWith("-") ? -1 : 1;
  let sum = 0;

  if (!/^[+-](\d{1,9}[A-Za-z]+)+$/.test(text))
    return null;
  for (const [, number, unit] of text.matchAll(/(\d+)([A-Za-z]+)/g)) {
    if (!Object.hasOwn(UNITS, unit!))
      return null;
    sum += sign * Number(number) * UNITS[unit!]!;
  }
  return sum;
}

function numberMs(digits: string): number | null {
  const number = Number(digits);

  switch (digits.length) {
    case 8:
      return Date.UTC(Math.floor(number / 10_000), Math.floor(number / 100) % 100 - 1, number % 100);
    case 13:
      return number;
    case 16:
      return Math.floor(number / 1000);
    case 19:
      return Math.floor(number / 1_000_000);
    default:
      return digits.length < 19 ? number * 1000 : null;
  }
}

const DATE = /^(?=.)(?:(\d{4}-\d\d-\d\d|today|yesterday)(?:[ T]|$))?(?:(\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?)?$/;

/** Parses "2026-11-23 15:04", "yesterday 15:04", "15:04" and so on. If the text has no
 * time zone, `zone` is "Z" for UTC or "" for the browser's zone. Returns null for other
 * texts. */
function dateMs(text: string, nowMs: number, zone: "Z" | ""): number | null {
  const found = DATE.exec(text);

  if (!found)
    return null;
  const [, day = "today", time = "00:00", ownZone = zone] = found;
  // A date whose UTC fields (year, month, day …) are the fields of `nowMs` in the zone.
  const date = new Date(zone === "Z" ? nowMs : nowMs - new Date(nowMs).getTimezoneOffset() * 60_000);
  if (day === "yesterday")
    date.setUTCDate(date.getUTCDate() - 1);
  const ms = Date.parse(`${day.endsWith("day") ? date.toISOString().slice(0, 10) : day}T${time}${ownZone}`);
  return Number.isNaN(ms) ? null : ms;
}

/** Returns milliseconds since 1970, or null for a time that the server would refuse. */
export function readTime(text: string, nowMs: number): number | null {
  const trimmed = text.trim();
  const offset = offsetMs(trimmed.replace(/^now/, ""));

  if (trimmed === "now")
    return nowMs;
  if (offset !== null)
    return nowMs + offset;
  return /^\d+$/.test(trimmed) ? numberMs(trimmed) : dateMs(trimmed, nowMs, "Z");
}

/** Formats a time as a parameter with 13 digits, since the server reads shorter numbers
 * as seconds. */
function timeText(ms: number): string {
  return String(Math.max(0, Math.round(ms))).padStart(13, "0");
}

/** Converts a typed time to a parameter. Days and times are in the browser's time zone
 * by default. Returns null if it cannot parse the text. */
export function typedTime(text: string, nowMs: number): string | null {
  const trimmed = text.trim();
  const ms = dateMs(trimmed, nowMs, "");

  if (ms !== null)
    return ms < 0 ? null : timeText(ms);
  if (/^[+-]/.test(trimmed))
    return typedTime(`now${trimmed}`, nowMs);
  return readTime(trimmed, nowMs) === null ? null : trimmed;
}

/** The range of two parameters, or null if one cannot be parsed. */
export function rangeOf(from: string | undefined, until: string | undefined, nowMs = Date.now()): Range | null {
  const fromMs = readTime(from ?? FROM_DEFAULT, nowMs);
  const untilMs = readTime(until ?? UNTIL_DEFAULT, nowMs);

  return fromMs === null || untilMs === null ? null : { fromMs, untilMs };
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
