/** Reads speedscope's file format (https://www.speedscope.app/file-format-schema.json).
 * Adds up all profiles of one unit. Each profile is a thread, too. */
import { finiteNumber as numberOf, inNanoseconds, ParseError, TreeMaker, type Parsed, type ParsedValue } from "./parsed.ts";

interface Frame { name?: unknown; file?: unknown; line?: unknown }
interface Event { type?: unknown; frame?: unknown; at?: unknown }
interface Profile { name?: unknown; type?: unknown; unit?: unknown; samples?: unknown; weights?: unknown; events?: unknown; startValue?: unknown }
export interface Speedscope { shared: { frames: Frame[] }; profiles: Profile[]; exporter?: unknown }

export function isSpeedscope(data: object): data is Speedscope {
  const { shared, profiles } = data as Partial<Speedscope>;

  return Array.isArray(profiles) && typeof shared === "object" && shared as unknown !== null && Array.isArray((shared as Partial<Speedscope["shared"]>).frames);
}

function finiteNumber(value: unknown): number {
  return numberOf(value, "speedscope profile");
}

class Reader {
  private readonly ids: number[];

  constructor(readonly maker: TreeMaker, frames: readonly Frame[], private readonly scale: number) {
    this.ids = frames.map(({ name, file, line }) =>
      maker.functionId(typeof name === "string" ? name : "?", typeof file === "string" ? file : "", typeof line === "number" ? line : 0));
  }

  sampled({ samples, weights }: Profile): void {
    if (!Array.isArray(samples) || !Array.isArray(weights) || samples.length !== weights.length)
      throw new ParseError("a speedscope profile has different numbers of samples and weights");
    samples.forEach((stack: unknown, index) => {
      if (!Array.isArray(stack))
        throw new ParseError("a sample of the speedscope profile is not a stack");
      this.add(stack.map((frame: unknown) => this.id(frame)), finiteNumber(weights[index]));
    });
  }

  /** Adds the stacks of an evented profile: the time between two events belongs to the
   * frames that are open. */
  evented({ events, startValue }: Profile): void {
    const stack: number[] = [];
    let before = typeof startValue === "number" ? startValue : 0;

    if (!Array.isArray(events))
      throw new ParseError("a speedscope profile has neither samples nor events");
    for (const { type, frame, at } of events as Event[]) {
      const now = finiteNumber(at);
      if (now > before && stack.length > 0)
        this.add(stack, now - before);
      before = Math.max(before, now);
      if (type === "O")
        stack.push(this.id(frame));
      else if (stack.pop() !== this.id(frame))
        throw new ParseError("a speedscope profile closes a frame that is not open");
    }
  }

  private id(frame: unknown): number {
    const id = this.ids[finiteNumber(frame)];

    if (id === undefined)
      throw new ParseError("a speedscope profile refers to a missing frame");
    return id;
  }

  private add(stack: readonly number[], weight: number): void {
    const value = weight * this.scale;

    if (value < 0)
      throw new ParseError("a sample of the speedscope profile has a negative weight");
    if (value > Number.MAX_SAFE_INTEGER)
      throw new ParseError("a value of the speedscope profile is too large");
    if (value !== 0)
      this.maker.add(stack, value, 1);
  }
}

/** The sum of profiles of one unit. */
function valueOf(frames: readonly Frame[], unit: string, profiles: readonly Profile[]): ParsedValue {
  const scale = inNanoseconds(unit);
  const reader = new Reader(new TreeMaker(), frames, scale ?? 1);

  for (const profile of profiles)
    if (profile.type === "evented")
      reader.evented(profile);
    else
      reader.sampled(profile);
  const name = scale !== null ? "time" : unit === "bytes" ? "bytes" : "samples";
  const tree = reader.maker.tree(name, scale !== null ? "nanoseconds" : unit === "bytes" ? "bytes" : "count");
  // Round nanoseconds to integers; weights without a unit may be fractions.
  return { name, tree: scale === null ? tree : { ...tree, nodes: { ...tree.nodes, self: tree.nodes.self.map(Math.round) } } };
}

export function speedscopeParsed({ profiles, shared: { frames } }: Speedscope): Parsed {
  const units = new Map<string, Profile[]>();
  const unitOf = ({ unit }: Profile): string => typeof unit === "string" ? unit : "none";

  for (const profile of profiles)
    units.set(unitOf(profile), [...units.get(unitOf(profile)) ?? [], profile]);
  if (units.size === 0)
    throw new ParseError("the speedscope file has no profiles");
  return {
    format: "speedscope", timeMs: null, notes: [], values: [...units].map(([unit, all]) => valueOf(frames, unit, all)),
    threads: profiles.map((profile) => ({ name: typeof profile.name === "string" ? profile.name : "", values: [valueOf(frames, unitOf(profile), [profile])] })),
  };
}
