/** Reads pprof's profile.proto. */
import type { FunctionLines, LineRow } from "../lines/values.ts";
import { DEPTH_MAX, inNanoseconds, ParseError, TreeMaker, type Parsed, type ParsedValue } from "./parsed.ts";
import { WireReader } from "./wire_reader.ts";

const MODULE_BYTES_MAX = 200;

interface ValueType {
  type: number;
  unit: number;
}

interface Line {
  functionId: number;
  line: number;
}

interface Location {
  mapping: number;
  lines: Line[];
}

interface Function {
  name: number;
  systemName: number;
  file: number;
  line: number;
}

interface Raw {
  types: ValueType[];
  samples: [begin: number, end: number][];
  locations: Map<number, Location>;
  functions: Map<number, Function>;
  /** For each mapping id, the index of its file name in `texts`. */
  mappings: Map<number, number>;
  texts: string[];
  timeNs: number;
  defaultType: number;
  period: number;
  periodType: ValueType;
}

function valueType(reader: WireReader): ValueType {
  const out = { type: 0, unit: 0 };

  while (reader.next())
    if (reader.field === 1)
      out.type = reader.value;
    else if (reader.field === 2)
      out.unit = reader.value;
  return out;
}

function putLocation(raw: Raw, reader: WireReader): void {
  const location: Location = { mapping: 0, lines: [] };
  let id = 0;

  while (reader.next())
    if (reader.field === 1) {
      id = reader.value;
    } else if (reader.field === 2) {
      location.mapping = reader.value;
    } else if (reader.field === 4 && reader.isBytes) {
      const line = { functionId: 0, line: 0 };
      for (const part = reader.message(); part.next();)
        if (part.field === 1)
          line.functionId = part.value;
        else if (part.field === 2)
          line.line = part.value;
      location.lines.push(line);
    }
  raw.locations.set(id, location);
}

function putFunction(raw: Raw, reader: WireReader): void {
  const out: Function = { name: 0, systemName: 0, file: 0, line: 0 };
  let id = 0;

  while (reader.next())
    if (reader.field === 1)
      id = reader.value;
    else if (reader.field === 2)
      out.name = reader.value;
    else if (reader.field === 3)
      out.systemName = reader.value;
    else if (reader.field === 4)
      out.file = reader.value;
    else if (reader.field === 5)
      out.line = reader.value;
  raw.functions.set(id, out);
}

function putMapping(raw: Raw, reader: WireReader): void {
  let id = 0;
  let file = 0;

  while (reader.next())
    if (reader.field === 1)
      id = reader.value;
    else if (reader.field === 5)
      file = reader.value;
  raw.mappings.set(id, file);
}

/** Reads all tables, but only the positions of samples, since samples may precede the
 * table entries to which they refer. */
function rawOf(bytes: Uint8Array): Raw {
  const raw: Raw = {
    types: [], samples: [], locations: new Map(), functions: new Map(), mappings: new Map(), texts: [], timeNs: 0, defaultType: 0,
    period: 0, periodType: { type: 0, unit: 0 },
  };
  const decoder = new TextDecoder();
  const reader = new WireReader(bytes);

  while (reader.next()) {
    if (reader.field === 9)
      raw.timeNs = reader.value;
    else if (reader.field === 12)
      raw.period = reader.value;
    else if (reader.field === 14)
      raw.defaultType = reader.value;
    if (!reader.isBytes)
      continue;
    if (reader.field === 1)
      raw.types.push(valueType(reader.message()));
    else if (reader.field === 2)
      raw.samples.push([reader.begin, reader.end]);
    else if (reader.field === 3)
      putMapping(raw, reader.message());
    else if (reader.field === 4)
      putLocation(raw, reader.message());
    else if (reader.field === 5)
      putFunction(raw, reader.message());
    else if (reader.field === 11)
      raw.periodType = valueType(reader.message());
    else if (reader.field === 6)
      raw.texts.push(decoder.decode(reader.bytes()));
  }
  if (raw.types.length === 0 || raw.texts[0] !== "")
    throw new ParseError("it is not a pprof profile");
  return raw;
}

/** Truncates a name at a character boundary, like sp_module_name() of
 * core/src/profile/tables/module_name.c. */
function cutModule(name: string): string {
  const bytes = new TextEncoder().encode(name);

  return bytes.length <= MODULE_BYTES_MAX ? name : new TextDecoder().decode(bytes.subarray(0, MODULE_BYTES_MAX)).replace(/\ufffd+$/, "");
}

interface Frame {
  readonly name: string;
  readonly file: string;
  /** The function's first line; 0 if not known. */
  readonly start: number;
  /** The line of the frame; 0 if not known. */
  readonly line: number;
}

/** Returns the frames of a location, innermost first. Code without a function name gets
 * its module's name, as in `spanprof report`. */
function framesOf(raw: Raw, id: number): Frame[] {
  const location = raw.locations.get(id) ?? { mapping: 0, lines: [] };
  const path = raw.texts[raw.mappings.get(location.mapping) ?? 0] ?? "";
  const module = cutModule(path.slice(path.lastIndexOf("/") + 1));
  const unnamed: Frame = { name: module.startsWith("[") ? module : `[${module === "" ? "unknown" : module}]`, file: "", start: 0, line: 0 };

  if (location.lines.length === 0)
    return [unnamed];
  return location.lines.map(({ functionId, line }) => {
    const found = raw.functions.get(functionId);
    const text = (index: number): string => raw.texts[index] ?? "";
    const name = found ? text(found.name) || text(found.systemName) : "";
    return found && name !== "" ? { name, file: text(found.file) || module, start: found.line, line } : unnamed;
  });
}

/** Calls `use` for each sample with its locations, innermost first, and its values. The
 * arrays are valid only during the call. */
function eachSample(bytes: Uint8Array, raw: Raw, use: (locations: readonly number[], values: readonly number[]) => void): void {
  const locations: number[] = [];
  const values: number[] = [];

  for (const [begin, end] of raw.samples) {
    locations.length = values.length = 0;
    for (const sample = new WireReader(bytes, begin, end); sample.next();)
      if (sample.field === 1)
        sample.numbers((id) => locations.push(id));
      else if (sample.field === 2)
        sample.numbers((value) => values.push(value));
    use(locations, values);
  }
}

/** Returns the tree of the value with this index, and the number of samples that it
 * omits because they are negative. */
function treeMaker(bytes: Uint8Array, raw: Raw, index: number, scale: number): { maker: TreeMaker; negative: number } {
  const maker = new TreeMaker();
  const frames = new Map<number, number[]>();
  const stack: number[] = [];
  let negative = 0;

  eachSample(bytes, raw, (locations, values) => {
    const value = values[index] ?? 0;

    if (locations.length > DEPTH_MAX)
      throw new ParseError(`a stack has more than ${DEPTH_MAX} frames`);
    stack.length = 0;
    for (let at = locations.length - 1; at >= 0; at--) {
      const id = locations[at]!;
      let found = frames.get(id);
      if (!found) {
        found = framesOf(raw, id).map(({ name, file, start }) => maker.functionId(name, file, start)).reverse();
        frames.set(id, found);
      }
      stack.push(...found);
    }
    if (value > 0)
      maker.add(stack, value * scale, Math.max(0, countOf(raw, values)));
    else if (value < 0)
      negative++;
  });
  return { maker, negative };
}

/** The number of samples that an entry represents, as `spanprof report` counts them: its
 * value "samples", else its value in the period's type divided by the period, else 1. */
function countOf(raw: Raw, values: readonly number[]): number {
  const { type, unit } = raw.periodType;
  const counted = raw.types.findIndex((each) => raw.texts[each.type] === "samples");
  const measured = raw.types.findIndex((each) => each.type === type && each.unit === unit);

  if (counted >= 0)
    return values[counted] ?? 0;
  return measured >= 0 && raw.period > 0 ? Math.max(1, Math.round((values[measured] ?? 0) / raw.period)) : 1;
}

/** Returns a function that sums the values of a profiled function by line. A sample counts
 * once for each line, even if the profiled function calls itself. */
function linesOf(bytes: Uint8Array, index: number, scale: number, unit: string): FunctionLines {
  return (name, file) => {
    const raw = rawOf(bytes);
    const rows = new Map<number, { -readonly [Member in keyof LineRow]: number }>();
    const linesAt = new Map<number, readonly (number | null)[]>();
    const seen = new Set<number>();
    const sums = { all: 0, self: 0, total: 0 };

    eachSample(bytes, raw, (locations, values) => {
      const value = Math.max(0, values[index] ?? 0) * scale;

      seen.clear();
      sums.all += value;
      for (const [depth, id] of locations.entries()) {
        const lines = linesAt.get(id) ?? framesOf(raw, id).map((frame) => frame.name === name && frame.file === file ? frame.line : null);
        linesAt.set(id, lines);
        for (const [inner, line] of lines.entries()) {
          if (line === null || value === 0)
            continue;
          const row = rows.get(line) ?? { line, self: 0, total: 0 };
          const self = depth === 0 && inner === 0 ? value : 0;
          rows.set(line, row);
          sums.total += seen.size === 0 ? value : 0;
          row.total += seen.has(line) ? 0 : value;
          row.self += self;
          sums.self += self;
          seen.add(line);
        }
      }
    });
    return Promise.resolve({ unit, ...sums, rows: [...rows.values()].sort((one, other) => one.line - other.line) });
  };
}

export function pprofParsed(bytes: Uint8Array): Parsed {
  const raw = rawOf(bytes);
  const notes: string[] = [];
  const named = raw.defaultType === 0 ? -1 : raw.types.findIndex(({ type }) => type === raw.defaultType);
  // Without a default, use the last type, like pprof and `spanprof report`.
  const shown = named >= 0 ? named : raw.types.length - 1;
  const values = raw.types.map(({ type, unit }, index): ParsedValue & { isDefault: boolean } => {
    const [name, measure] = [raw.texts[type] ?? "", raw.texts[unit] ?? ""];
    const scale = inNanoseconds(measure);
    const unitName = scale === null ? measure : "nanoseconds";
    const { maker, negative } = treeMaker(bytes, raw, index, scale ?? 1);

    if (negative > 0)
      notes.push(`Excludes negative samples of ${name} (${negative}): the file is a difference of profiles, as pprof -diff_base writes. Open both profiles instead.`);
    return {
      name, isDefault: index === shown,
      tree: maker.tree(name, unitName), lines: linesOf(bytes, index, scale ?? 1, unitName),
    };
  });

  return {
    format: "pprof", timeMs: raw.timeNs > 0 ? Math.floor(raw.timeNs / 1e6) : null, notes,
    values: values.sort((a, b) => Number(b.isDefault) - Number(a.isDefault)),
  };
}
