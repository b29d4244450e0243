/** Parses a query that may be incomplete, with the positions of its parts. Only the
 * server interprets queries; the page sends them unchanged. */

import { classicName, classicType } from "./classic.ts";

export type Operator = "=" | "!=" | "=~" | "!~";

/** `start` and `end` are indices in UTF-16 units. */
export interface Matcher {
  start: number;
  end: number;
  name: string;
  operator: Operator;
  value: string;
}

/** The part of the query at the caret. `start` is the begin of the text that is being typed. */
export type Place =
  | { kind: "head" | "name" | "operator" | "none"; start: number; text: string }
  | { kind: "value"; start: number; text: string; name: string; operator: Operator; quoted: boolean };

export interface Parsed {
  /** The text before the brace: an application, a profile type, or nothing. */
  head: string;
  headStart: number;
  matchers: Matcher[];
  /** The part at the caret. */
  place: Place;
}

const NAME = /[A-Za-z_][A-Za-z0-9_.:-]*/y;
const OPERATOR = /=~|!~|!=|=/y;
const STRING = /"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|`[^`]*`?/ys;
const SPACE = /\s*/y;

/** The label of a value without name and operator: a metric's name or a profile type. */
const METRIC = "__name__";

function isClosed(quotedText: string): boolean {
  return quotedText.length > 1 && quotedText.endsWith(quotedText[0]!);
}

function matchAt(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}

const ESCAPES: Readonly<Record<string, string>> = { a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };
/** An escape: consecutive bytes, which may form one character; a code point; or a
 * single character. */
const ESCAPE = /((?:\\x[0-9A-Fa-f]{2}|\\[0-7]{3})+)|\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))/gs;

function bytesText(escapes: string): string {
  const bytes = [...escapes.matchAll(/\\(?:x(..)|(...))/g)].map(([, hex, octal]) => hex === undefined ? parseInt(octal!, 8) : parseInt(hex, 16));

  return new TextDecoder().decode(Uint8Array.from(bytes));
}

function codeText(hex: string): string {
  const code = parseInt(hex, 16);

  return code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
}

/** Unquotes a text with the server's escapes (sp_label_unquote). The closing quote
 * may be missing. */
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

/** A regular expression that matches only this value. */
export function escapedRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** Reads the text once and collects the complete matchers and the part at the caret. */
class Reader {
  readonly matchers: Matcher[] = [];
  place: Place | null = null;
  private at: number;

  constructor(private readonly text: string, start: number, private readonly caret: number) {
    this.at = start;
  }

  /** Reads the matchers after the brace. */
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
    this.at += matchAt(SPACE, this.text, this.at)!.length;
  }

  private notePlace(kind: "name" | "operator", start: number, end: number): void {
    if (!this.place && this.caret >= start && this.caret <= end)
      this.place = { kind, start, text: this.text.slice(start, this.caret) };
  }

  private matcher(): boolean {
    const start = this.at;
    const isQuoted = /["'`]/.test(this.text[start] ?? "");
    const name = matchAt(isQuoted ? STRING : NAME, this.text, start) ?? "";

    this.at += name.length;
    this.notePlace("name", start, this.at);
    const nameEnd = this.at;
    this.space();
    const operator = matchAt(OPERATOR, this.text, this.at) as Operator | null;
    this.notePlace("operator", nameEnd, this.at);
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
    const value = matchAt(STRING, this.text, this.at);
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

/** Whether a matcher is a profile type in quotes instead of a label. */
export function isTypeMatcher({ name, operator, value }: Matcher): boolean {
  return name === METRIC && operator === "=" && isType(value);
}

/** The profile type of a query: before the brace, in quotes, or from the suffix of a
 * classic application. Returns undefined if there is none. */
export function typeIn(query: string): string | undefined {
  const { head, matchers } = parseQuery(query);

  return isType(head) ? head : matchers.find(isTypeMatcher)?.value ?? classicName(head)?.type;
}

/** The single application that a query selects; null if it selects none or several. */
export function applicationOf(query: string, known: readonly string[] = []): string | null {
  const { head, matchers } = parseQuery(query);

  if (head !== "" && !isType(head))
    return known.includes(head) ? head : classicName(head)?.application ?? head;
  return matchers.find(({ name, operator }) => name === "service_name" && operator === "=")?.value ?? null;
}

/** Labels whose values identify one span or trace. */
export const ID_LABELS: readonly string[] = ["profile_id", "span_id", "trace_id"];

function written(label: string, value: string, operator: Operator = "="): string {
  return `${/^[A-Za-z_]\w*$/.test(label) ? label : quoted(label)}${operator}${quoted(value)}`;
}

/** The text of the matchers as typed. */
function textsOf(query: string, matchers: readonly Matcher[]): string[] {
  return matchers.map(({ start, end }) => query.slice(start, end));
}

/** Returns the profile type to write before the brace: that of the query or of its
 * classic application, such as "shop.alloc_space". Returns "" for the default type
 * unless the query has it before the brace. */
function typeFront(query: string): string {
  const type = typeIn(query) ?? "";

  return type === classicType("cpu") && !isType(parseQuery(query).head) ? "" : type;
}

/** The query for another application. Keeps the type and the other matchers, except
 * those for one span or trace. "" selects all applications. */
export function withApplication(query: string, application: string): string {
  const others = parseQuery(query).matchers.filter((each) => each.name !== "service_name" && !ID_LABELS.includes(each.name) && !isTypeMatcher(each));
  const service = application === "" ? [] : [written("service_name", application)];

  return `${typeFront(query)}{${[...service, ...textsOf(query, others)].join(",")}}`;
}

/** The query with its application and type, without other matchers. */
export function onlyApplication(query: string): string {
  return withApplication(`${typeFront(query)}{}`, applicationOf(query) ?? "");
}

/** Adds a matcher to the query. Replaces an existing "=" matcher of the same label and
 * the "!=" matcher of the same value. */
export function withMatcher(query: string, label: string, value: string): string {
  const { head, matchers } = parseQuery(query);
  const others = matchers.filter((each) => each.name !== label || each.operator !== "=" && (each.operator !== "!=" || each.value !== value));

  if (label === "service_name" && head !== "" && !isType(head))
    return withApplication(query, value);
  return `${head}{${[...textsOf(query, others), written(label, value)].join(",")}}`;
}

/** Adds a "!=" matcher to the query. Removes the "=" matcher of the same value. */
export function withoutValue(query: string, label: string, value: string): string {
  const { head, matchers } = parseQuery(query);
  const isHead = label === "service_name" && head !== "" && !isType(head) && applicationOf(query) === value;
  const others = matchers.filter((each) => !(each.name === label && each.value === value && (each.operator === "=" || each.operator === "!="))
    && !(isHead && isTypeMatcher(each)));

  return `${isHead ? typeFront(query) : head}{${[...textsOf(query, others), written(label, value, "!=")].join(",")}}`;
}

/** Removes the matcher with this index. */
export function withoutMatcher(query: string, index: number): string {
  const { head, matchers } = parseQuery(query);

  return `${head}{${textsOf(query, matchers.filter((_, each) => each !== index)).join(",")}}`;
}

/** The query with its type and only this matcher. */
export function matcherAlone(query: string, matcher: Matcher): string {
  return `${typeFront(query)}{${textsOf(query, [matcher]).join("")}}`;
}
