/** Completions at the caret: names and values that the server has in the time range
 * for the query's application and other matchers. */
import type { Api } from "../parts/api.ts";
import type { WireApplication, WireLabelValue } from "../model/wire.ts";
import { percent } from "../parts/format.ts";
import { ID_LABELS, escapedRegex, parseQuery, quoted, withoutMatcher, type Parsed, type Place } from "./parse.ts";

export interface Option {
  /** The displayed text. */
  text: string;
  hint: string;
  /** The text that replaces the range from `start` to `end`. */
  insert: string;
  start: number;
  end: number;
  /** Number of characters of `insert` after the caret, such as closing brackets. */
  back: number;
}

export interface Source {
  api: Api;
  parameters: () => Readonly<Record<string, string>>;
}

const OPTIONS_MAX = 100;
const OPERATORS: readonly (readonly [string, string])[] = [
  ["=", "is"], ["!=", "is not"], ["=~", "matches the regular expression"], ["!~", "does not match the regular expression"],
];
const IDS_HINT = "span or trace id";

/** Label names that need no quotes. */
const PLAIN = /^[A-Za-z_]\w*$/;

/** Application names that a classic query can start with (classic_query.c). */
const CLASSIC = /^[A-Za-z0-9_][\w:.\-/]*$/;

export class Completion {
  private readonly known = new Map<string, Promise<readonly (readonly [string, string])[]>>();
  private abort = new AbortController();

  constructor(private readonly source: Source) {}

  /** Clears the cache. Must be called if the range changes, since another range has
   * other names. */
  forget(): void {
    this.abort.abort();
    this.abort = new AbortController();
    this.known.clear();
  }

  async options(text: string, caret: number): Promise<Option[]> {
    const parsed = parseQuery(text, caret);
    const { place } = parsed;

    switch (place.kind) {
      case "head":
        return matching(await this.applications(), place.text)
          .map(([name, hint]) => applicationOption(name, hint, text, place));
      case "name":
        return nameOptions(matching(await this.names(parsed, text), place.text), place, caret, text);
      case "operator":
        return operatorOptions(place.text.trim(), place.start, caret, text);
      case "value":
        return await this.valueOptions(parsed, text, caret, place);
      case "none":
        return [];
    }
  }

  private async valueOptions(parsed: Parsed, text: string, caret: number, place: Extract<Place, { kind: "value" }>): Promise<Option[]> {
    const isRegex = place.operator.endsWith("~");
    // In a regular expression, complete the last alternative.
    const bar = isRegex ? place.text.lastIndexOf("|") + 1 : 0;
    const before = place.text.slice(0, bar);
    const end = valueEnd(text, caret, place);
    const close = text.slice(end).trim() === "" ? "}" : "";

    return matching(await this.values(parsed, text, place.name), place.text.slice(bar)).map(([value, hint]) => ({
      text: value, hint, insert: quoted(before + (isRegex ? escapedRegex(value) : value)) + close, start: place.start, end, back: close.length,
    }));
  }

  /** Caches responses by key. Later key presses wait for a pending response instead of
   * aborting it. */
  private cached(key: string, run: (signal: AbortSignal) => Promise<readonly (readonly [string, string])[]>): Promise<readonly (readonly [string, string])[]> {
    const { signal } = this.abort;
    let answer = this.known.get(key);

    if (!answer) {
      answer = run(signal).catch((error: unknown) => {
        if (!signal.aborted)
          this.known.delete(key);
        throw error;
      });
      this.known.set(key, answer);
    }
    return answer;
  }

  private async applications(): Promise<readonly (readonly [string, string])[]> {
    const { from, until } = this.source.parameters();

    return await this.cached("applications", async (signal) => {
      const { applications } = await this.source.api.get<{ applications: WireApplication[] }>("applications", { from, until }, signal);
      return applications.map(({ name }) => [name, "application"] as const);
    });
  }

  private async names(parsed: Parsed, text: string): Promise<readonly (readonly [string, string])[]> {
    const { type, from, until } = this.source.parameters();
    const query = wholePart(parsed, text, null);

    return await this.cached(`names ${query}`, async (signal) => {
      const { labels } = await this.source.api.get<{ labels: { name: string; values: number }[] }>("labels", { query, type, from, until }, signal);
      return [
        ...labels.map(({ name, values }) => [name, `${values} value${values === 1 ? "" : "s"}`] as const),
        ...ID_LABELS.map((name) => [name, IDS_HINT] as const),
      ];
    });
  }

  private async values(parsed: Parsed, text: string, label: string): Promise<readonly (readonly [string, string])[]> {
    const { type, from, until } = this.source.parameters();
    const query = wholePart(parsed, text, label);

    return await this.cached(`values ${label} ${query}`, async (signal) => {
      const { values } = await this.source.api.get<{ values: WireLabelValue[] }>("labels", { query, type, from, until, label, limit: 1000 }, signal);
      return values.filter(({ value }) => value !== null).map(({ value, share }) => [value!, percent(share)] as const);
    });
  }
}

/** The options for a name. After a complete name, these are operators and the longer
 * names that start with it. */
function nameOptions(found: readonly (readonly [string, string])[], place: Place, caret: number, query: string): Option[] {
  const names = found.map(([name, hint]) => ({ text: name, hint, insert: PLAIN.test(name) ? name : quoted(name), start: place.start, end: caret, back: 0 }));

  return names.some(({ text }) => text === place.text)
    ? [...operatorOptions("", caret, caret, query), ...names.filter(({ text }) => text !== place.text)]
    : names;
}

/** Options with quotes for the value, unless the query already has them. */
function operatorOptions(typed: string, start: number, caret: number, query: string): Option[] {
  const hasQuotes = /^\s*["'`]/.test(query.slice(caret));

  return OPERATORS.filter(([each]) => each.startsWith(typed))
    .map(([each, hint]) => ({ text: each, hint, insert: hasQuotes ? each : `${each}""`, start, end: caret, back: hasQuotes ? 0 : 1 }));
}

/** Whether Enter should accept the first option after the user typed: if a part of a
 * name or value is typed, or if the query needs an operator or a value. */
export function isFirstWanted(options: readonly Option[], text: string, caret: number): boolean {
  const { place } = parseQuery(text, caret);
  const isNeeded = place.text !== "" || place.kind === "operator" || place.kind === "value";

  return place.kind === "operator" || place.kind !== "none" && isNeeded && options.every((option) => option.text !== place.text);
}

/** Returns the query with only its complete matchers, without those of the label that
 * is being typed. */
function wholePart(parsed: Parsed, text: string, label: string | null): string {
  let query = `${parsed.head}{${parsed.matchers.map(({ start, end }) => text.slice(start, end)).join(",")}}`;

  for (let index = parsed.matchers.length - 1; label !== null && index >= 0; index--)
    if (parsed.matchers[index]!.name === label)
      query = withoutMatcher(query, index);
  return query === "{}" ? "" : query;
}

/** The end of the value at the caret, including its closing quote. */
function valueEnd(text: string, caret: number, place: Extract<Place, { kind: "value" }>): number {
  if (!place.quoted)
    return caret;
  const remaining = /^(?:[^"\\,{}]|\\.)*"/.exec(text.slice(caret));
  return caret + (remaining && text[place.start] === '"' ? remaining[0].length : 0);
}

function applicationOption(name: string, hint: string, text: string, place: Place): Option {
  const brace = text.indexOf("{");
  const end = brace < 0 ? text.length : brace;

  const back = brace < 0 ? 1 : 0;

  if (CLASSIC.test(name))
    return { text: name, hint, insert: `${name}.cpu${brace < 0 ? "{}" : ""}`, start: place.start, end, back };
  return { text: name, hint, insert: `{service_name=${quoted(name)}${brace < 0 ? "}" : ","}`, start: place.start, end: brace < 0 ? end : brace + 1, back };
}

/** Filters options: first those that start with the text, then those that contain it. */
function matching(all: readonly (readonly [string, string])[], text: string): (readonly [string, string])[] {
  const sought = text.toLowerCase();
  const found = all.filter(([each]) => each.toLowerCase().includes(sought));
  const begins = (each: readonly [string, string]): boolean => each[0].toLowerCase().startsWith(sought);

  return [...found.filter(begins), ...found.filter((each) => !begins(each))].slice(0, OPTIONS_MAX);
}
