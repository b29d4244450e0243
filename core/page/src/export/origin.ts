/** The origin of stacks: query, range and address, which their exports contain, and
 * further data about the same stacks. */
import { readAddress, writeAddress, type Change, withChange } from "../model/state.ts";
import { rangeOf, rangeChange, FROM_DEFAULT, UNTIL_DEFAULT, type Range } from "../model/range.ts";
import { typeOf, type ProfileSelection } from "../model/choice.ts";
import { linesOfSelection, type FunctionLines } from "../lines/values.ts";
import type { Api } from "../parts/api.ts";
import { moment } from "../parts/format.ts";
import { zoneOf } from "../parts/zone.ts";
import { packed, withOrigin } from "./pprof.ts";

export interface Origin {
  /** Query and range, one line for each side. */
  readonly lines: readonly string[];
  /** The address that shows the stacks again; "" if there is none. */
  readonly link: string;
  /** The time of the measurement; null if not known. */
  readonly range: Range | null;
  /** Fetches the profile with its labels and spans as gzipped pprof; null if only the
   * drawn tree is available. */
  readonly profile: ((title: string) => Promise<Blob>) | null;
  /** Fetches the values of a function by line; null if they are not available. */
  readonly functionLines: FunctionLines | null;
}

/** Title, query, range and link as lines that begin with "#", for text formats. A number
 * at the end of a line is quoted, because flamegraph.pl and inferno read each line that
 * ends in a number as a stack, also "# build 7" and "# build 7.". */
export function commentsOf(title: string, { lines, link }: Pick<Origin, "lines" | "link">): string {
  return [title, ...lines, ...link === "" ? [] : [link]].map((each) => `# ${each.replace(/\s+/g, " ").replace(/ (\d[\d.]*)$/, ' "$1"')}\n`).join("");
}

const SIDES = ["", "left", "right"] as const;

/** Returns an address with absolute instead of relative times. The default is the address
 * of the page. */
export function absoluteLink(nowMs: number, address = new URL(location.href)): string {
  const state = readAddress(address);
  const change: Record<string, string | undefined> = {};

  for (const side of SIDES) {
    const [from, until] = side === "" ? ["from", "until"] : [`${side}From`, `${side}Until`];
    const isSet = state.parameters[from] !== undefined || state.parameters[until] !== undefined;
    const range = side === "" || isSet
      ? rangeOf(state.parameters[from] ?? FROM_DEFAULT, state.parameters[until] ?? UNTIL_DEFAULT, nowMs) : null;
    if (range)
      ({ from: change[from], until: change[until] } = rangeChange(range));
  }
  return new URL(writeAddress(withChange(state, { ...change, live: undefined } satisfies Change)), location.href).href;
}

export function rangeText({ fromMs, untilMs }: Range): string {
  return `${moment(fromMs)} \u2013 ${moment(untilMs)} ${zoneOf(untilMs)}`;
}

function selectionText(selection: ProfileSelection, range: Range | null): string {
  const ids = [selection.span && `span ${selection.span}`, selection.trace && `trace ${selection.trace}`].filter(Boolean);

  return [selection.query ?? "", ...ids, typeOf(selection), range ? rangeText(range) : ""].filter((each) => each !== "").join(" \u00b7 ");
}

/** The origin of stacks that are queried from the server now. `address` is the address of the
 * view that shows the stacks. The default is the address of the page. */
export function originOf(api: Api, selection: ProfileSelection, address?: URL): Origin {
  const nowMs = Date.now();
  const range = rangeOf(selection.from, selection.until, nowMs);

  const about = { lines: [selectionText(selection, range)], link: absoluteLink(nowMs, address) };
  const exact = { ...selection, ...range && rangeChange(range) };

  return {
    ...about, range, functionLines: linesOfSelection(api, exact),
    profile: async (title) => {
      const answer = await api.fetch("profile", { ...exact, format: "pprof", labels: 1 }, {});
      const bytes = withOrigin(new Uint8Array(await answer.arrayBuffer()), title, about);
      return new Blob([await packed(bytes)], { type: "application/octet-stream" });
    },
  };
}

/** The origin of both sides of a comparison. */
export function originOfPair(base: ProfileSelection, selection: ProfileSelection): Origin {
  const nowMs = Date.now();
  const [baseRange, range] = [rangeOf(base.from, base.until, nowMs), rangeOf(selection.from, selection.until, nowMs)];

  return {
    lines: [`Baseline: ${selectionText(base, baseRange)}`, `Comparison: ${selectionText(selection, range)}`],
    link: absoluteLink(nowMs), range, profile: null, functionLines: null,
  };
}
