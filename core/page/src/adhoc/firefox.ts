/** Reads the format of profiler.firefox.com, which Firefox, samply and vernier write.
 * Newer versions have the tables of all threads in `shared`. */
import { finiteNumber, hasValues, inNanoseconds, ParseError, TreeMaker, type Parsed, type ParsedValue, type Thread } from "./parsed.ts";

type Column = readonly unknown[] | null | undefined;
interface Samples { stack: readonly unknown[]; weight?: Column; weightType?: unknown; threadCPUDelta?: Column }
interface Tables {
  stackTable: { frame: readonly unknown[]; prefix: readonly unknown[] };
  frameTable: { func: readonly unknown[] };
  funcTable: { name: readonly unknown[]; fileName?: Column; source?: Column; lineNumber?: Column; resource?: Column };
  resourceTable?: { name?: Column };
  sources?: { filename?: Column };
  stringArray: readonly unknown[];
}
interface RawThread extends Partial<Tables> { name?: unknown; processName?: unknown; samples?: Samples }
export interface Firefox { meta: { sampleUnits?: { threadCPUDelta?: unknown } | null; startTime?: unknown }; threads: RawThread[]; shared?: Partial<Tables> }

const KIND = "Firefox profile";

export function isFirefox(data: object): data is Firefox {
  const { meta, threads } = data as Partial<Firefox>;

  return typeof meta === "object" && meta as unknown !== null && Array.isArray(threads);
}

function numberAt(column: Column, index: number): number {
  return finiteNumber(column?.[index], KIND);
}

/** The number at `index`; null if there is none. */
function indexAt(column: Column, index: number): number | null {
  const value = column?.[index];

  return typeof value === "number" && value >= 0 ? value : null;
}

function textAt({ stringArray }: Tables, index: number | null): string {
  const text = index === null ? "" : stringArray[index];

  return typeof text === "string" ? text : "";
}

/** Code without a symbol has its address as name. */
function functionId(maker: TreeMaker, tables: Tables, func: number): number {
  const { funcTable, resourceTable, sources } = tables;
  const name = textAt(tables, indexAt(funcTable.name, func));
  const source = indexAt(funcTable.source, func);
  const file = textAt(tables, source === null ? indexAt(funcTable.fileName, func) : indexAt(sources?.filename, source));
  const resource = indexAt(funcTable.resource, func);
  const module = resource === null ? "" : textAt(tables, indexAt(resourceTable?.name, resource));

  if (/^0x[0-9a-f]+$/.test(name))
    return maker.functionId(`[${module === "" ? "unknown" : module}]`);
  return maker.functionId(name === "" ? "(anonymous)" : name, file === "" ? module : file, indexAt(funcTable.lineNumber, func) ?? 0);
}

/** The function ids of each stack, outermost first. */
function stacksOf(maker: TreeMaker, tables: Tables): (index: number) => readonly number[] {
  const { stackTable, frameTable } = tables;
  const known = new Map<number, readonly number[]>();

  return (index) => {
    const found = known.get(index);
    const stack: number[] = [];
    if (found)
      return found;
    for (let at: number | null = index; at !== null; at = indexAt(stackTable.prefix, at)) {
      if (stack.length > stackTable.frame.length)
        throw new ParseError(`the stacks of the ${KIND} form a cycle`);
      stack.push(functionId(maker, tables, numberAt(frameTable.func, numberAt(stackTable.frame, at))));
    }
    known.set(index, stack.reverse());
    return stack;
  };
}

/** The name and the unit of a kind of weights, and the factor to this unit. */
function weightOf(type: unknown): readonly [name: string, unit: string, scale: number] {
  return type === "bytes" ? ["bytes", "bytes", 1] : type === "tracing-ms" ? ["time", "nanoseconds", 1e6] : ["samples", "count", 1];
}

/** Adds up values by name and unit: of one thread, and of all threads. */
class Sums {
  private readonly makers = new Map<string, { name: string; unit: string; maker: TreeMaker }>();

  maker(name: string, unit: string): TreeMaker {
    const found = this.makers.get(name) ?? { name, unit, maker: new TreeMaker() };

    this.makers.set(name, found);
    return found.maker;
  }

  /** CPU time comes first. */
  values(): ParsedValue[] {
    return [...this.makers.values()].sort((a, b) => Number(b.name === "cpu") - Number(a.name === "cpu"))
      .map(({ name, unit, maker }) => ({ name, tree: maker.tree(name, unit) }));
  }
}

function addThread(sums: Sums, tables: Tables, { stack, weight, weightType, threadCPUDelta }: Samples, cpuScale: number | null): void {
  const [name, unit, scale] = weightOf(weight ? weightType : "samples");
  const add = (maker: TreeMaker, valueOf: (index: number) => number): void => {
    const functions = stacksOf(maker, tables);
    stack.forEach((each, index) => {
      const value = valueOf(index);
      // Samples without a stack are of an idle thread.
      if (typeof each === "number" && value > 0)
        maker.add(functions(each), value, 1);
    });
  };

  add(sums.maker(name, unit), (index) => weight ? finiteNumber(weight[index], KIND) * scale : 1);
  if (cpuScale !== null && threadCPUDelta?.some((each) => typeof each === "number" && each > 0))
    add(sums.maker("cpu", "nanoseconds"), (index) => Math.round((indexAt(threadCPUDelta, index) ?? 0) * cpuScale));
}

function nameOf({ name, processName }: RawThread): string {
  return [processName, name].filter((each) => typeof each === "string" && each !== "").join(", ") || "thread";
}

export function firefoxParsed(data: Firefox): Parsed {
  const all = new Sums();
  const threads: Thread[] = [];
  let negative = 0;
  const unit = data.meta.sampleUnits?.threadCPUDelta;
  const cpuScale = typeof unit === "string" ? inNanoseconds(unit) : null;

  for (const thread of data.threads) {
    const tables = { ...data.shared, ...thread } as Tables;
    const own = new Sums();
    if (!thread.samples)
      continue;
    if (!Array.isArray(thread.samples.stack))
      throw new ParseError("it is an unprocessed Firefox profile; open it in profiler.firefox.com and save it again");
    for (const sums of [all, own])
      addThread(sums, tables, thread.samples, cpuScale);
    threads.push({ name: nameOf(thread), values: own.values() });
    negative += thread.samples.weight?.filter((each) => typeof each === "number" && each < 0).length ?? 0;
  }
  if (threads.length === 0)
    throw new ParseError("it has no samples");
  const { startTime } = data.meta;
  return {
    format: KIND, timeMs: typeof startTime === "number" && startTime > 0 ? Math.floor(startTime) : null, values: all.values(),
    notes: negative > 0 ? [`Excludes samples with a negative weight, such as freed memory (${negative}).`] : [],
    threads: threads.filter(hasValues),
  };
}
