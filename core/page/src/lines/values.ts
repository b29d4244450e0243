/** The values of a function by line of its file. */
import type { ProfileSelection } from "../model/choice.ts";
import type { WireLines } from "../model/wire.ts";
import type { Api } from "../parts/api.ts";

export interface LineRow {
  /** 0: the frames have no line number. */
  readonly line: number;
  readonly self: number;
  readonly total: number;
}

export interface LineValues {
  readonly unit: string;
  /** The value of all stacks, which is 100 % in shares. */
  readonly all: number;
  /** The values of the function. */
  readonly self: number;
  readonly total: number;
  /** Ordered by line. */
  readonly rows: readonly LineRow[];
  /** Number of frames whose lines are missing. */
  readonly merged?: number | undefined;
  readonly source?: WireLines["source"];
}

export type FunctionLines = (name: string, file: string, signal: AbortSignal) => Promise<LineValues>;

export function lineValuesOf({ unit, all, self, total, merged, lines, source }: WireLines): LineValues {
  return { unit, all, self, total, merged, source, rows: lines.line.map((line, at) => ({ line, self: lines.self[at]!, total: lines.total[at]! })) };
}

/** Requests the values of a function from the server. */
export function linesOfSelection(api: Api, selection: ProfileSelection): FunctionLines {
  return async (name, file, signal) => {
    const query = new URLSearchParams({ function: name, file });

    return lineValuesOf(await api.get<WireLines>(`lines?${query.toString()}`, { ...selection }, signal));
  };
}
