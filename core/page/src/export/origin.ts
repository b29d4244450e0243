/** The origin of stacks, for their exports. */
import { readAddress, writeAddress, type Change, changed } from "../model/state.ts";
import { rangeOf, rangeChange, FROM_DEFAULT, UNTIL_DEFAULT, type Range } from "../model/range.ts";
import { typeOf } from "../model/choice.ts";
import type { Api } from "../parts/api.ts";
import { moment, zoneOf } from "../parts/format.ts";
import { packed } from "./pprof.ts";

export interface Origin {
  /** Query and range, one line for each side. */
  readonly says: readonly string[];
  /** The address that shows the stacks again; "": none. */
  readonly link: string;
  /** The time of the measurement; null: not known. */
  readonly range: Range | null;
  /** Fetches the profile with its labels and spans as gzipped pprof; null: only the
   * drawn tree is available. */
  readonly profile: (() => Promise<Blob>) | null;
}

/** The parameters of an API call that selects profiles. */
export type Selected = Readonly<Partial<Record<"query" | "type" | "from" | "until" | "span" | "trace", string | undefined>>>;

const SIDES = ["", "left", "right"] as const;

/** The page's address with absolute instead of relative times. */
export function lastingLink(nowMs: number): string {
  const state = readAddress(new URL(location.href));
  const change: Record<string, string | undefined> = {};

  for (const side of SIDES) {
    const [from, until] = side === "" ? ["from", "until"] : [`${side}From`, `${side}Until`];
    const said = state.parameters[from] ?? state.parameters[until];
    const range = side === "" || said !== undefined
      ? rangeOf(state.parameters[from] ?? FROM_DEFAULT, state.parameters[until] ?? UNTIL_DEFAULT, nowMs) : null;
    if (range)
      ({ from: change[from], until: change[until] } = rangeChange(range));
  }
  return new URL(writeAddress(changed(state, { ...change, live: undefined } satisfies Change)), location.href).href;
}

export function rangeText({ fromMs, untilMs }: Range): string {
  return `${moment(fromMs)} \u2013 ${moment(untilMs)} ${zoneOf(untilMs)}`;
}

function selectionText(asked: Selected, range: Range | null): string {
  const ids = [asked.span && `span ${asked.span}`, asked.trace && `trace ${asked.trace}`].filter(Boolean);

  return [asked.query ?? "", ...ids, typeOf(asked), range ? rangeText(range) : ""].filter((each) => each !== "").join(" \u00b7 ");
}

/** The origin of stacks that were just queried from the server. */
export function originOf(api: Api, asked: Selected): Origin {
  const nowMs = Date.now();
  const range = rangeOf(asked.from, asked.until, nowMs);

  return {
    says: [selectionText(asked, range)], link: lastingLink(nowMs), range,
    profile: async () => {
      const answer = await api.fetch("profile", { ...asked, ...range && rangeChange(range), format: "pprof", labels: 1 }, {});
      return new Blob([await packed(new Uint8Array(await answer.arrayBuffer()))], { type: "application/octet-stream" });
    },
  };
}

/** The origin of both sides of a comparison. */
export function originOfPair(base: Selected, asked: Selected): Origin {
  const nowMs = Date.now();
  const [baseRange, range] = [rangeOf(base.from, base.until, nowMs), rangeOf(asked.from, asked.until, nowMs)];

  return {
    says: [`Baseline: ${selectionText(base, baseRange)}`, `Comparison: ${selectionText(asked, range)}`],
    link: lastingLink(nowMs), range, profile: null,
  };
}
