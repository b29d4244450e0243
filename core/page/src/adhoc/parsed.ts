/** The result of parsing a file. */
import type { FunctionLines } from "../lines/values.ts";
import { TreeBuilder } from "../model/tree_builder.ts";
import type { WireTree } from "../model/wire.ts";

export interface ParsedValue {
  /** The name in menus: "cpu", "alloc_space". */
  readonly name: string;
  readonly tree: WireTree;
  /** The values of functions by line, if the format contains lines. */
  readonly lines?: FunctionLines;
}

/** A part of a file that can be shown alone. */
export interface Thread {
  readonly name: string;
  readonly values: readonly ParsedValue[];
}

export interface Parsed {
  /** "pprof", "folded stacks", … */
  readonly format: string;
  /** At least one value; the default comes first. */
  readonly values: readonly ParsedValue[];
  /** The threads, if the file has several; `values` are their sums. */
  readonly threads?: readonly Thread[];
  /** If the file is a comparison, the baseline's values, in the same order. */
  readonly before?: readonly ParsedValue[];
  /** Start time; null if the file has none. */
  readonly timeMs: number | null;
  /** Sentences about omitted data. */
  readonly notes: readonly string[];
}

/** A file that cannot be read, with a message for the user. */
export class ParseError extends Error {}

/** A number of a JSON file of the given kind. */
export function finiteNumber(value: unknown, kind: string): number {
  if (typeof value !== "number" || !Number.isFinite(value))
    throw new ParseError(`a value of the ${kind} is not a number`);
  return value;
}

/** Maximum number of frames of a stack, since a small file can describe a stack of
 * millions of frames. */
export const DEPTH_MAX = 4096;

/** Builds a tree and its functions, which are distinguished by name and file. */
export class TreeMaker {
  readonly builder = new TreeBuilder({ base: false, samples: true, baseSamples: false });
  private readonly name: string[] = [];
  private readonly file: string[] = [];
  private readonly line: number[] = [];
  private readonly known = new Map<string, number>();

  functionId(name: string, file = "", line = 0): number {
    const key = `${name}\0${file}`;
    let id = this.known.get(key);

    if (id === undefined) {
      id = this.name.push(name) - 1;
      this.file.push(file);
      this.line.push(line);
      this.known.set(key, id);
    }
    return id;
  }

  /** `functions` has function ids, outermost first. */
  add(functions: readonly number[], value: number, samples: number): void {
    let node = 0;

    if (functions.length > DEPTH_MAX)
      throw new ParseError(`a stack has more than ${DEPTH_MAX} frames`);
    for (const id of functions)
      node = this.builder.child(node, id);
    this.builder.add(node, value, 0, samples, 0);
  }

  tree(type: string, unit: string): WireTree {
    const { parent, functionOf, self, samples } = this.builder.columns();

    return {
      type, unit, profiles: 1,
      functions: { name: this.name, file: this.file, line: this.line },
      nodes: { parent: Array.from(parent), function: Array.from(functionOf), self: Array.from(self), samples: Array.from(samples!) },
    };
  }
}

/** Returns whether a thread has a value. Other threads are not shown. */
export function hasValues({ values }: Thread): boolean {
  return values.some(({ tree }) => tree.nodes.self.some((each) => each > 0));
}

/** The factor that converts a unit of time to nanoseconds; null for other units. */
export function inNanoseconds(unit: string): number | null {
  const scales: Partial<Record<string, number>> = {
    nanoseconds: 1, nanosecond: 1, ns: 1, "\u00b5s": 1e3, "\u03bcs": 1e3, microseconds: 1e3, microsecond: 1e3, us: 1e3, milliseconds: 1e6, millisecond: 1e6, ms: 1e6, seconds: 1e9, second: 1e9, s: 1e9,
  };

  return scales[unit] ?? null;
}
