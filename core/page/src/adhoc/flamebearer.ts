/** Reads the flame graph in an answer of Pyroscope's API. A row has four numbers for each
 * box: the gap to the box on its left, its total, its self value and the number of its
 * name. A comparison has gap, total and self for both sides, and then the name. */
import { DEPTH_MAX, finiteNumber, ParseError, TreeMaker, type Parsed, type ParsedValue } from "./parsed.ts";

export interface Flamebearer {
  flamebearer: { names: readonly unknown[]; levels: readonly (readonly unknown[])[] };
  metadata?: { format?: unknown; units?: unknown; sampleRate?: unknown; name?: unknown };
  timeline?: { startTime?: unknown } | null;
}
/** A box: its node in the tree of each side, and the end of its range on the axis, which
 * both sides share. */
interface Box { nodes: readonly number[]; end: number }

const KIND = "flamebearer file";
/** With a higher sample rate, values are times, and not numbers of samples. */
const RATE_MAX = 1e6;
/** Matches the name of a type. Other names are queries or names of files. */
const TYPE = /^\w+$/;

export function isFlamebearer(data: object): data is Flamebearer {
  const { flamebearer } = data as Partial<Flamebearer>;

  return typeof flamebearer === "object" && flamebearer as unknown !== null && Array.isArray(flamebearer.levels) && Array.isArray(flamebearer.names);
}

/** Returns the name and the unit of the values, the factor to this unit, and whether the
 * values are numbers of samples. */
function kindOf({ metadata }: Flamebearer): { name: string; unit: string; scale: number; isCounted: boolean } {
  const { units, sampleRate, name } = metadata ?? {};
  const rate = units === "samples" && typeof sampleRate === "number" && sampleRate > 0 ? sampleRate : null;
  const unit = rate !== null || units === "lock_nanoseconds" ? "nanoseconds" : units === "bytes" ? "bytes" : "count";
  const types = [name, rate === null ? units : "cpu"].filter((each) => typeof each === "string" && TYPE.test(each)) as string[];

  return { name: types[0] ?? "samples", unit, scale: rate === null ? 1 : 1e9 / rate, isCounted: rate !== null && rate < RATE_MAX };
}

/** Builds the trees of the sides row by row. */
class Rows {
  readonly makers: readonly TreeMaker[];
  private above: readonly Box[] | null = null;
  private readonly data: Flamebearer;

  constructor(data: Flamebearer) {
    this.data = data;
    this.makers = data.metadata?.format === "double" ? [new TreeMaker(), new TreeMaker()] : [new TreeMaker()];
  }

  add(level: readonly unknown[], scale: number): void {
    const [width, row]: [number, Box[]] = [this.makers.length * 3 + 1, []];
    let [x, at] = [0, 0];

    for (let i = 0; i + width <= level.length; i += width) {
      const numbers = level.slice(i, i + width).map((each) => finiteNumber(each, KIND));
      const sides = this.makers.map((maker, side) => ({ maker, gap: numbers[side * 3]!, total: numbers[side * 3 + 1]!, self: numbers[side * 3 + 2]! }));
      if (sides.some(({ gap, total }) => gap < 0 || total < 0))
        throw new ParseError(`a row of boxes of the ${KIND} is malformed`);
      x += sides.reduce((sum, { gap }) => sum + gap, 0);
      while (this.above && at + 1 < this.above.length && x >= this.above[at]!.end)
        at++;
      const caller = this.above?.[at];
      // The box of the first row is the sum of all stacks, and not a function.
      const name = caller ? this.name(numbers[width - 1]!) : "";
      const nodes = sides.map(({ maker, total }, side) => caller && total > 0 ? maker.builder.child(caller.nodes[side]!, maker.functionId(name)) : 0);
      sides.forEach(({ maker, self }, side) => {
        if (self > 0)
          maker.builder.add(nodes[side]!, Math.round(self * scale), 0, self, 0);
      });
      x += sides.reduce((sum, { total }) => sum + total, 0);
      row.push({ nodes, end: x });
    }
    this.above = row;
  }

  private name(index: number): string {
    const found = this.data.flamebearer.names[index];

    if (found === undefined)
      throw new ParseError(`the number of a name of the ${KIND} is malformed`);
    return typeof found === "string" && found !== "" ? found : "[unknown]";
  }
}

export function flamebearerParsed(data: Flamebearer): Parsed {
  const { levels } = data.flamebearer;
  const { name, unit, scale, isCounted } = kindOf(data);
  const rows = new Rows(data);
  const startTime = data.timeline?.startTime;

  if (levels.length > DEPTH_MAX)
    throw new ParseError(`a stack has more than ${DEPTH_MAX} frames`);
  for (const level of levels)
    rows.add(level, scale);
  const [first, second] = rows.makers.map((maker): ParsedValue[] => {
    const tree = maker.tree(name, unit);
    const { samples, ...nodes } = tree.nodes;
    // Without a number of samples, the page cannot tell noise from a change.
    return [{ name, tree: { ...tree, nodes: isCounted && samples ? { ...nodes, samples } : nodes } }];
  });
  return {
    format: "flamebearer", timeMs: typeof startTime === "number" && startTime > 0 ? startTime * 1000 : null, notes: [],
    values: second ?? first!, ...second && { before: first! },
  };
}
