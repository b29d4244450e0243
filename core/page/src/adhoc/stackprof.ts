/** Reads JSON of stackprof, the sampling profiler of Ruby. */
import { finiteNumber, ParseError, TreeMaker, type Parsed } from "./parsed.ts";

interface Frame { name?: unknown; file?: unknown; line?: unknown }
export interface Stackprof { mode?: unknown; interval?: unknown; frames: Record<string, Frame>; raw?: unknown; missed_samples?: unknown }

const NS_PER_US = 1000;

export function isStackprof(data: object): data is Stackprof {
  const { frames, ...others } = data as Partial<Stackprof>;

  return typeof frames === "object" && frames as unknown !== null && !Array.isArray(frames) && "mode" in others && "interval" in others;
}

/** `raw` has for each stack its depth, its frames from the outermost inwards, and its
 * number of samples. */
export function stackprofParsed(data: Stackprof): Parsed {
  const { mode, raw } = data;
  const isTime = mode === "cpu" || mode === "wall";
  const maker = new TreeMaker();
  const ids = new Map(Object.entries(data.frames).map(([key, { name, file, line }]) =>
    [Number(key), maker.functionId(typeof name === "string" ? name : "(unknown)", typeof file === "string" ? file : "", typeof line === "number" ? line : 0)]));
  const scale = finiteNumber(data.interval, "stackprof file") * (isTime ? NS_PER_US : 1);

  if (!Array.isArray(raw))
    throw new ParseError("it has no stacks; record with raw: true");
  for (let at = 0; at < raw.length;) {
    const depth = finiteNumber(raw[at++], "stackprof file");
    const stack = raw.slice(at, at + depth).map((each: unknown) => ids.get(finiteNumber(each, "stackprof file")));
    at += depth;
    const samples = finiteNumber(raw[at++], "stackprof file");
    if (stack.includes(undefined))
      throw new ParseError("a stack of the stackprof file refers to a missing frame");
    maker.add(stack as number[], samples * scale, samples);
  }
  const missed = typeof data.missed_samples === "number" ? data.missed_samples : 0;
  const name = typeof mode === "string" ? mode : "samples";
  return {
    format: "stackprof", timeMs: null, values: [{ name, tree: maker.tree(name, isTime ? "nanoseconds" : "count") }],
    notes: missed > 0 ? [`stackprof missed ${missed} samples.`] : [],
  };
}
