/** Ranges to compare a range with. All have the length of the range. */
import { msOfLocal, zoneOffset } from "../parts/zone.ts";
import type { Range } from "./range.ts";

/** In the order of menus, with their display names. */
export const BASELINES = [
  ["before", "the time before"], ["yesterday", "the same time yesterday"], ["week", "the same time last week"],
] as const;
export type BaselineName = (typeof BASELINES)[number][0];

const DAY_MS = 86_400_000;

const DAYS: Readonly<Record<Exclude<BaselineName, "before">, number>> = { yesterday: 1, week: 7 };

export function baselineNamed(name: string | undefined): BaselineName | null {
  return BASELINES.find(([each]) => each === name)?.[0] ?? null;
}

/** A day may have 23 or 25 hours in the time zone of the page. */
function daysBefore(ms: number, days: number): number {
  return msOfLocal(ms + zoneOffset(ms) - days * DAY_MS);
}

export function baselineRange({ fromMs, untilMs }: Range, name: BaselineName): Range {
  const byMs = name === "before" ? untilMs - fromMs : untilMs - daysBefore(untilMs, DAYS[name]);

  return { fromMs: fromMs - byMs, untilMs: untilMs - byMs };
}
