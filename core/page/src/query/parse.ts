/** A query while it is typed: its parts with their places, also where it is not
 * whole. What it means is the server's to say; nothing here changes a query that
 * is run. */

import { classicName, classicType } from "./classic.ts";

export type Operator = "=" | "!=" | "=~" | "!~";

/** Places are of UTF-16 units. */
export interface Matcher {
  start: number;
  end: number;
  name: string;
  operator: Operator;
  value: string;
}

/** Where the caret is. `start` is where what is being typed begins. */
export type Place =
  | { kind: "head" | "name" | "operator" | "none"; start: number; text: string }
  | { kind: "value"; start: number; text: string; name: string; operator: Operator; quoted: boolean };

export interface Parsed {
  /** In front of the brace: an application, a profile type, or nothing. */
  head: string;
  headStart: number;
  matchers: Matcher[];
  /** Of the caret that was given. */
  place: Place;
}

const NAME = /[A-Za-z_][A-Za-z0-9_.:-]*/y;
const OPERATOR = /=~|!~|!=|=/y;
const STRING = /"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|`[^`]*`?/ys;
const SPACE = /\s*/y;

/** The label of what stands alone in quotes: a metric's name, or a profile type. */
const METRIC = "__name__";

function isClosed(quotedText: string): boolean {
  return quotedText.length > 1 && quotedText.endsWith(quotedText[0]!);
}

function taken(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}

const ESCAPES: Readonly<Record<string, string>> = { a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };
/** Bytes that follow each other, which may be one character; a code point; or what
 * stands for itself. */
const ESCAPE = /((?:\\x[0-9A-Fa-f]{2}|\\[0-7]{3})+)|\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))/gs;

function bytesText(escapes: string): string {
  const bytes = [...escapes.matchAll(/\\(?:x(..)|(...))/g)].map(([, hex, octal]) => hex === undefined ? parseInt(octal!, 8) : parseInt(hex, 16));

  return new TextDecoder().decode(Uint8Array.from(bytes));
}

function codeText(hex: string): string {
  const code = parseInt(hex, 16);

  return code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
}

/** A quoted text's meaning, with the escapes that the server knows
 * (sp_label_unquote); an end that is missing does not matter. */
export function unquoted(text: string): string {
  const mark = text[0] ?? "";
  const body = text.length > 1 && text.endsWith(mark) ? text.slice(1, -1) : text.slice(1);

  return mark === "`" ? body.replaceAll("\r", "") : body.replace(ESCAPE,
    (_, bytes: string | undefined, short: string | undefined, long: string | undefined, letter: string) =>
      bytes !== undefined ? bytesText(bytes) : short ?? long ? codeText((short ?? long)!) : ESCAPES[letter] ?? letter);
}

export function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n").replace(/\r/g, "\\r")}"`;
}

/** A value as a regular expression that matches it alone. */
export function escapedRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** One walk through the text: matchers that are whole, and the caret's place. */
class Reader {
  readonly matchers: Matcher[] = [];
  place: Place | null = null;
  private at: number;

  constructor(private readonly text: string, start: number, private readonly caret: number) {
    this.at = start;
  }

  /** Behind the brace. */
  matcherList(): void {
    while (this.at <= this.text.length) {
      this.space();
      if (!this.matcher())
        return;
      this.space();
      if (this.text[this.at] !== ",")
        return;
      this.at++;
    }
  }

  private space(): void {
    this.at += taken(SPACE, this.text, this.at)!.length;
  }

  private here(kind: "name" | "operator", start: number, end: number): void {
    if (!this.place && this.caret >= start && this.caret <= end)
      this.place = { kind, start, text: this.text.slice(start, this.caret) };
  }

  private matcher(): boolean {
    const start = this.at;
    const isQuoted = /["'`]/.test(this.text[start] ?? "");
    const name = taken(isQuoted ? STRING : NAME, this.text, start) ?? "";

    this.at += name.length;
    this.here("name", start, this.at);
    const nameEnd = this.at;
    this.space();
    const operator = taken(OPERATOR, this.text, this.at) as Operator | null;
    this.here("operator", nameEnd, this.at);
    if (isQuoted && isClosed(name) && /[,}]/.test(this.text[this.at] ?? "")) {
      this.matchers.push({ start, end: nameEnd, name: METRIC, operator: "=", value: unquoted(name) });
      return true;
    }
    if (name === "" || operator === null)
      return false;
    this.at += operator.length;
    this.space();
    return this.value(start, isQuoted ? unquoted(name) : name, operator);
  }

  private value(start: number, name: string, operator: Operator): boolean {
    const value = taken(STRING, this.text, this.at);
    const valueStart = this.at;
    const end = valueStart + (value?.length ?? 0);
    const closed = value !== null && isClosed(value);

    if (!this.place && this.caret >= valueStart && this.caret <= end && !(closed && this.caret === end))
      this.place = {
        kind: "value", start: valueStart, name, operator, quoted: value !== null,
        text: value === null ? "" : unquoted(this.text.slice(valueStart, this.caret)),
      };
    this.at = end;
    if (value === null)
      return false;
    if (closed)
      this.matchers.push({ start, end, name, operator, value: unquoted(value) });
    return true;
  }
}

export function parseQuery(text: string, caret = text.length): Parsed {
  const brace = text.indexOf("{");
  const headText = brace < 0 ? text : text.slice(0, brace);
  const headStart = headText.length - headText.trimStart().length;
  const reader = new Reader(text, brace + 1, caret);
  let place: Place = { kind: "none", start: caret, text: "" };

  if (brace >= 0)
    reader.matcherList();
  if (brace < 0 || caret <= brace)
    place = { kind: "head", start: headStart, text: text.slice(headStart, Math.max(headStart, caret)) };
  return { head: headText.trim(), headStart, matchers: reader.matchers, place: reader.place ?? place };
}

/** name:type:unit:period_type:period_unit, and perhaps ":delta". */
const isType = (text: string): boolean => /^([^:]*:){4,5}[^:]*$/.test(text);

/** Is it a profile type in quotes, which is no label's? */
export function isTypeMatcher({ name, operator, value }: Matcher): boolean {
  return name === METRIC && operator === "=" && isType(value);
}

/** The profile type that a query names, in front, in quotes or by a classic
 * application's ending; undefined: none. */
export function typeIn(query: string): string | undefined {
  const { head, matchers } = parseQuery(query);

  return isType(head) ? head : matchers.find(isTypeMatcher)?.value ?? classicName(head)?.type;
}

/** The one application that a query names; null: none, or several. */
export function applicationOf(query: string, known: readonly string[] = []): string | null {
  const { head, matchers } = parseQuery(query);

  if (head !== "" && !isType(head))
    return known.includes(head) ? head : classicName(head)?.application ?? head;
  return matchers.find(({ name, operator }) => name === "service_name" && operator === "=")?.value ?? null;
}

/** Labels whose values are of one span or trace. */
export const ID_LABELS: readonly string[] = ["profile_id", "span_id", "trace_id"];

function written(label: string, value: string): string {
  return `${/^[A-Za-z_]\w*$/.test(label) ? label : quoted(label)}=${quoted(value)}`;
}

/** Matchers as they were typed. */
function textsOf(query: string, matchers: readonly Matcher[]): string[] {
  return matchers.map(({ start, end }) => query.slice(start, end));
}

/** What stands in front for the query's type: a classic application goes, but what
 * its ending means does not. */
function typeFront(query: string): string {
  const type = typeIn(query) ?? "";

  return type === classicType("cpu") && !isType(parseQuery(query).head) ? "" : type;
}

/** The query for another application: its type stays, and its other matchers, but
 * those of one span or trace. "" takes all applications. */
export function withApplication(query: string, application: string): string {
  const rest = parseQuery(query).matchers.filter((each) => each.name !== "service_name" && !ID_LABELS.includes(each.name) && !isTypeMatcher(each));
  const own = application === "" ? [] : [written("service_name", application)];

  return `${typeFront(query)}{${[...own, ...textsOf(query, rest)].join(",")}}`;
}

/** The query for its application alone. */
export function onlyApplication(query: string): string {
  return withApplication(`${typeFront(query)}{}`, applicationOf(query) ?? "");
}

/** The query with one more matcher; one of the same label with "=" gives way. */
export function withMatcher(query: string, label: string, value: string): string {
  const { head, matchers } = parseQuery(query);
  const rest = matchers.filter(({ name, operator }) => name !== label || operator !== "=");

  if (label === "service_name" && head !== "" && !isType(head))
    return withApplication(query, value);
  return `${head}{${[...textsOf(query, rest), written(label, value)].join(",")}}`;
}

/** The query without its matcher number `index`. */
export function withoutMatcher(query: string, index: number): string {
  const { head, matchers } = parseQuery(query);

  return `${head}{${textsOf(query, matchers.filter((_, each) => each !== index)).join(",")}}`;
}

/** A matcher of the query alone, of its type. */
export function matcherAlone(query: string, matcher: Matcher): string {
  return `${typeFront(query)}{${textsOf(query, [matcher]).join("")}}`;
}
