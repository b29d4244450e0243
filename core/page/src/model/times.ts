/** Parses times as people write them, like unix_time.c in the command and the server. Both
 * parsers are tested with test/times/cases.tsv. */
import { msOfLocal, zoneOffset } from "../parts/zone.ts";

/** A day, a week or another period that a text names. Both ends of a point in time are
 * equal. */
export interface Period {
  fromMs: number;
  untilMs: number;
}

const DAY_MS = 86_400_000, WEEK_MS = 7 * DAY_MS;
const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6, us: 1e-3, ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000, d: DAY_MS, w: WEEK_MS, M: 30 * DAY_MS, mon: 30 * DAY_MS, y: 365 * DAY_MS,
};

/** Returns the milliseconds by which local time is ahead of UTC. */
type Offset = (ms: number) => number;

const UTC: Offset = () => 0;

function at(ms: number): Period {
  return { fromMs: ms, untilMs: ms };
}

function period(localMs: number, lengthMs: number, offset: Offset): Period {
  return { fromMs: msOfLocal(localMs, offset), untilMs: msOfLocal(localMs + lengthMs, offset) };
}

/** The local day of a time, given as if it were UTC. */
function dayOf(ms: number, offset: Offset): number {
  return Math.floor((ms + offset(ms)) / DAY_MS) * DAY_MS;
}

/** The Monday of the week of a local day. */
function mondayOf(dayMs: number): number {
  // 1970-01-05 was a Monday.
  return Math.floor((dayMs - 4 * DAY_MS) / WEEK_MS) * WEEK_MS + 4 * DAY_MS;
}

/** Parses a length of time such as "1h30m" or "90 min". `bareUnitMs` is the unit of a
 * number alone; 0 if it must have a unit. Returns null for other texts. */
function durationMs(text: string, bareUnitMs: number): number | null {
  let sum = 0;

  if (/^\s*\d+(?:\.\d+)?\s*$/.test(text))
    return bareUnitMs === 0 ? null : Number(text) * bareUnitMs;
  if (!/^\s*(?:\d+(?:\.\d+)?\s*[A-Za-z]+\s*)+$/.test(text))
    return null;
  for (const [, number, unit] of text.matchAll(/([\d.]+)\s*([A-Za-z]+)/g)) {
    if (!Object.hasOwn(UNITS, unit!))
      return null;
    sum += Number(number) * UNITS[unit!]!;
  }
  return sum;
}

const RELATIVE = /^(now\b)?\s*(?:([+-])([^/]*)|(\d[^/]*[A-Za-z][^/]*))?(?:\/([mhdw]))?$/;

/** Parses "now-90m", "-1h", "1h30m" and "now/d". */
function relative(text: string, nowMs: number, offset: Offset): Period | null {
  const [found, now, sign, length, ago, unit] = RELATIVE.exec(text) ?? [];
  const byMs = durationMs(length ?? ago ?? "0", ago === undefined ? 1000 : 0);

  if (found === undefined || byMs === null || (now === undefined && length === undefined && ago === undefined) || (now !== undefined && ago !== undefined))
    return null;
  const ms = nowMs + (sign === "+" ? byMs : -byMs);
  if (unit === undefined)
    return at(ms);
  if (unit === "w")
    return period(mondayOf(dayOf(ms, offset)), WEEK_MS, offset);
  const unitMs = UNITS[unit]!;
  return period(Math.floor((ms + offset(ms)) / unitMs) * unitMs, unitMs, offset);
}

function numberMs(text: string): number {
  const [digits] = text.split(".", 1);
  const unit: Readonly<Record<number, number>> = { 13: 1, 16: 1e-3, 19: 1e-6 };

  return Number(text) * (unit[digits!.length] ?? 1000);
}

/** The local day of "2026-11-23", "today" or "yesterday"; null for a day that does not
 * exist. */
function dayMs(text: string, nowMs: number, offset: Offset): number | null {
  if (text === "today" || text === "yesterday")
    return dayOf(nowMs, offset) - (text === "today" ? 0 : DAY_MS);
  const ms = Date.parse(`${text}T00:00Z`);
  // Date.parse() accepts February 30.
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text) && !text.startsWith("0000") ? ms : null;
}

function typedOffset(text: string | undefined, offset: Offset): Offset | null {
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)$/.exec(text ?? "") ?? [];

  if (text === undefined)
    return offset;
  if (sign === undefined)
    return UTC;
  return Number(hours) > 23 || Number(minutes) > 59 ? null
    : () => (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -60_000 : 60_000);
}

const CLOCK = /^(?:(\d{4}-\d\d-\d\d|today|yesterday)(?:[Tt]|\s+))?(\d\d?):(\d\d)(?::(\d\d))?(\.\d*)?\s*(Z|z|UTC|[+-]\d\d:?\d\d)?$/;

/** Parses "2026-11-23 15:04", "yesterday 15:04", "15:04Z" and so on. */
function clock(text: string, nowMs: number, offset: Offset): Period | null {
  const [found, day, hours, minutes, seconds = "0", fraction = "", zone] = CLOCK.exec(text) ?? [];
  const day0 = found === undefined ? null : dayMs(day ?? "today", nowMs, offset);
  const own = typedOffset(zone, offset);

  if (day0 === null || !own || Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59)
    return null;
  const timeMs = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000 + Math.round(Number(`0${fraction}0`) * 1000);
  return at(msOfLocal(day0 + timeMs, own));
}

/** Parses days and weeks. */
function wholeDays(text: string, nowMs: number, offset: Offset): Period | null {
  const week = /^(this|last)\s+week$/.exec(text);

  if (week)
    return period(mondayOf(dayOf(nowMs, offset)) - (week[1] === "last" ? WEEK_MS : 0), WEEK_MS, offset);
  const compact = text.replace(/^(\d{4})(\d\d)(\d\d)$/, "$1-$2-$3");
  const day = /^(?:\d{4}-\d\d-\d\d|today|yesterday)$/.test(compact) ? dayMs(compact, nowMs, offset) : null;
  return day === null ? null : period(day, DAY_MS, offset);
}

/** Parses a time as people write it. A day, a week, and a time with a unit such as "/d"
 * are a range, and both ends of a point in time are equal. Days and times without a zone
 * are in the time zone of the page, or in UTC. Returns null for texts that the server would
 * refuse. */
export function readPeriod(text: string, nowMs: number, zone: "local" | "utc"): Period | null {
  const offset = zone === "local" ? zoneOffset : UTC;
  const trimmed = text.trim();

  if (/^\d+(\.\d+)?$/.test(trimmed) && !/^\d{8}$/.test(trimmed))
    return at(numberMs(trimmed));
  return relative(trimmed, nowMs, offset) ?? clock(trimmed, nowMs, offset) ?? wholeDays(trimmed, nowMs, offset);
}
