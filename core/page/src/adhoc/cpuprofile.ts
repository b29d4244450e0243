/** Reads CPU profiles of V8 (.cpuprofile), from Chrome's developer tools and node --cpu-prof. */
import { finiteNumber as numberOf, ParseError, TreeMaker, type Parsed } from "./parsed.ts";

export interface CallFrame { functionName?: unknown; url?: unknown; lineNumber?: unknown }
export interface Node { id: number; callFrame?: CallFrame; children?: number[]; parent?: number; hitCount?: number }
export interface CpuProfile { nodes: Node[]; samples?: number[]; timeDeltas?: number[]; startTime?: number; endTime?: number }

const NS_PER_US = 1000;
const ROOT = "(root)";
const IDLE = "(idle)";

export function isCpuProfile(data: object): data is CpuProfile {
  const { nodes } = data as Partial<CpuProfile>;

  return Array.isArray(nodes) && nodes.length > 0 && typeof nodes[0]?.id === "number" && typeof nodes[0].callFrame === "object";
}

function nameOf(frame: CallFrame | undefined): string {
  const name = frame?.functionName;

  return typeof name === "string" && name !== "" ? name : "(anonymous)";
}

function finiteNumber(value: unknown): number {
  return numberOf(value, ".cpuprofile");
}

/** Returns the time and the number of samples of each node, by id. A sample lasts until
 * the start of the next one. If the next one starts earlier, since deltas can be
 * negative if the clocks of threads differ, the sample has no time, and time that was
 * counted already does not count again. */
function timesOf(data: CpuProfile, samples: readonly number[]): { times: Map<number, number>; counts: Map<number, number> } {
  const [times, counts] = [new Map<number, number>(), new Map<number, number>()];
  const deltas = data.timeDeltas ?? [];
  let at = finiteNumber(deltas[0] ?? 0);
  let latest = at;

  samples.forEach((id, index) => {
    at = index + 1 < samples.length ? at + finiteNumber(deltas[index + 1] ?? 0) : finiteNumber(data.endTime ?? 0) - finiteNumber(data.startTime ?? 0);
    times.set(id, (times.get(id) ?? 0) + Math.max(at - latest, 0) * NS_PER_US);
    counts.set(id, (counts.get(id) ?? 0) + 1);
    latest = Math.max(latest, at);
  });
  return { times, counts };
}

function hitsOf(nodes: readonly Node[]): Map<number, number> {
  return new Map(nodes.map((node) => [node.id, finiteNumber(node.hitCount ?? 0)]));
}

/** Returns whether a profile has the time of each sample. */
function isTimed({ samples, timeDeltas }: CpuProfile): boolean {
  return Array.isArray(samples) && Array.isArray(timeDeltas) && samples.length > 0;
}

/** Adds the values of all nodes except idle nodes. Returns the sum of the idle values. */
export function addCpuProfile(maker: TreeMaker, data: CpuProfile): number {
  const parents = new Map<number, number>();
  const byId = new Map(data.nodes.map((node) => [node.id, node]));
  const { times, counts } = isTimed(data) ? timesOf(data, data.samples!) : { times: hitsOf(data.nodes), counts: hitsOf(data.nodes) };
  let idle = 0;

  for (const node of data.nodes) {
    for (const child of node.children ?? [])
      parents.set(child, node.id);
    if (node.parent !== undefined)
      parents.set(node.id, node.parent);
  }
  // Several parts of a trace may contain the same node.
  for (const node of byId.values()) {
    const value = times.get(node.id) ?? 0;
    if (value === 0)
      continue;
    if (nameOf(node.callFrame) === IDLE) {
      idle += value;
      continue;
    }
    const stack: number[] = [];
    for (let at: Node | undefined = node; at; at = byId.get(parents.get(at.id) ?? NaN)) {
      if (stack.length > data.nodes.length)
        throw new ParseError("the call tree of the .cpuprofile has a cycle");
      if (nameOf(at.callFrame) !== ROOT)
        stack.push(functionIdOf(maker, at.callFrame));
    }
    maker.add(stack.reverse(), value, counts.get(node.id) ?? 0);
  }
  return idle;
}

/** Returns a note about the excluded idle time, or no note for 0 ns. */
export function idleNotes(ns: number): string[] {
  return ns > 0 ? [`Excludes ${(ns / 1e9).toFixed(2)} s of idle time.`] : [];
}

export function cpuProfileParsed(data: CpuProfile): Parsed {
  const maker = new TreeMaker();
  const idle = addCpuProfile(maker, data);
  const [name, unit] = isTimed(data) ? ["cpu", "nanoseconds"] : ["samples", "count"];

  return {
    format: "Chrome CPU profile", timeMs: null, values: [{ name, tree: maker.tree(name, unit) }],
    notes: isTimed(data) ? idleNotes(idle) : [],
  };
}

export function functionIdOf(maker: TreeMaker, frame: CallFrame | undefined): number {
  const { url, lineNumber } = frame ?? {};

  return maker.functionId(nameOf(frame), typeof url === "string" ? url : "", typeof lineNumber === "number" && lineNumber >= 0 ? lineNumber + 1 : 0);
}
