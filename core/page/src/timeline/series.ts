/** The values of a timeline: rates in common units, and null where there is no
 * data. */
import { amount, moment } from "../parts/format.ts";

/** `/api/v1/series`. */
export interface WireSeries {
  type: string;
  unit: string;
  kind: "sum" | "level";
  from: number;
  until: number;
  start: number;
  step: number;
  values: number[];
  covered: number[];
}

export interface Points {
  /** The begin of each step. */
  timesMs: number[];
  values: (number | null)[];
  stepMs: number;
  fromMs: number;
  untilMs: number;
  /** Formats a value: "2.5 cores", "12 k /s", "3 MiB". */
  format(value: number): string;
  /** Name of the values: "CPU cores". */
  name: string;
}

const NS_PER_MS = 1_000_000;

/** Formats a number with three significant digits. */
function figure(value: number): string {
  return value === 0 ? "0" : String(Number(value.toPrecision(3)));
}

function presentationOf(series: WireSeries): Pick<Points, "format" | "name"> {
  const sample = series.type.split(":")[1] ?? "";

  if (series.kind === "level")
    return { format: (value) => amount(value, series.unit), name: `${sample} in use` };
  if (series.unit === "nanoseconds")
    return sample === "cpu"
      ? { format: (value) => `${figure(value)} core${value === 1 ? "" : "s"}`, name: "CPU cores" }
      : { format: (value) => figure(value), name: `${sample} seconds per second` };
  return { format: (value) => `${amount(value, series.unit)}/s`, name: `${sample} per second` };
}

/** The value of a step. Rates refer to the covered part of the step, so that a step
 * that has only begun does not look like a drop. */
function valueOf(series: WireSeries, step: number): number | null {
  const covered = series.covered[step]!;
  const value = series.values[step]!;

  if (covered === 0)
    return null;
  if (series.kind === "level")
    return value * series.step / covered;
  return series.unit === "nanoseconds" ? value / NS_PER_MS / covered : value * 1000 / covered;
}

export function pointsOf(series: WireSeries): Points {
  return {
    timesMs: series.values.map((_, step) => series.start + step * series.step),
    values: series.values.map((_, step) => valueOf(series, step)),
    stepMs: series.step, fromMs: series.from, untilMs: series.until,
    ...presentationOf(series),
  };
}

/** A description for screen readers: average, highest value and gaps. */
export function summary(points: Points): string {
  const known = points.values.filter((value) => value !== null);

  if (known.length === 0)
    return `${points.name}: no data.`;
  const most = known.reduce((a, b) => Math.max(a, b), 0);
  const average = known.reduce((sum, value) => sum + value, 0) / known.length;
  const at = points.timesMs[points.values.indexOf(most)] ?? points.fromMs;
  const gaps = points.values.length - known.length;

  return `${points.name}: ${points.format(average)} on average, at most ${points.format(most)} at ${moment(at)}`
    + (gaps > 0 ? `; no data in ${gaps} of ${points.values.length} steps.` : ".");
}

/** The step that contains a time. */
export function stepAt(points: Points, ms: number): number {
  const step = Math.floor((ms - points.timesMs[0]!) / points.stepMs);

  return Math.max(0, Math.min(points.timesMs.length - 1, step));
}
