/** A query while it is typed: its parts with their places, also where it is not
 * whole. What it means is the server's to say; nothing here changes a query that
 * is run. */

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

function taken(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}

/** A quoted text's meaning; an end that is missing does not matter. */
export function unquoted(text: string): string {
  const mark = text[0] ?? "";
  const body = text.length > 1 && text.endsWith(mark) ? text.slice(1, -1) : text.slice(1);
  const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };

  return mark === "`" ? body : body.replace(/\\(.)/gs, (_, each: string) => escapes[each] ?? each);
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
    const name = taken(this.text[start] === '"' ? STRING : NAME, this.text, start) ?? "";

    this.at += name.length;
    this.here("name", start, this.at);
    const nameEnd = this.at;
    this.space();
    const operator = taken(OPERATOR, this.text, this.at) as Operator | null;
    this.here("operator", nameEnd, this.at);
    if (name === "" || operator === null)
      return false;
    this.at += operator.length;
    this.space();
    return this.value(start, name.startsWith('"') ? unquoted(name) : name, operator);
  }

  private value(start: number, name: string, operator: Operator): boolean {
    const value = taken(STRING, this.text, this.at);
    const valueStart = this.at;
    const end = valueStart + (value?.length ?? 0);
    const closed = value !== null && value.length > 1 && value.endsWith(value[0]!);

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

const TYPE_PARTS = 5;
const isType = (head: string): boolean => head.split(":").length === TYPE_PARTS;

/** The endings of classic_query.c. */
const ENDING = /\.(cpu|itimer|samples|wall|alloc_objects|alloc_space|inuse_objects|inuse_space|goroutines|mutex_count|mutex_duration|block_count|block_duration)$/;

/** The one application that a query names; null: none, or several. */
export function applicationOf(query: string, known: readonly string[] = []): string | null {
  const { head, matchers } = parseQuery(query);

  if (head !== "" && !isType(head))
    return known.includes(head) ? head : head.replace(ENDING, "");
  return matchers.find(({ name, operator }) => name === "service_name" && operator === "=")?.value ?? null;
}

/** Labels whose values are of one span or trace. */
export const ID_LABELS: readonly string[] = ["profile_id", "span_id", "trace_id"];

function written(head: string, matchers: readonly Matcher[]): string {
  const name = (text: string): string => /^[A-Za-z_]\w*$/.test(text) ? text : quoted(text);

  return `${head}{${matchers.map((each) => `${name(each.name)}${each.operator}${quoted(each.value)}`).join(",")}}`;
}

/** The query for another application: its other matchers stay, but those of one
 * span or trace. "" takes all applications. */
export function withApplication(query: string, application: string): string {
  const { head, matchers } = parseQuery(query);
  const rest = matchers.filter(({ name }) => name !== "service_name" && !ID_LABELS.includes(name));
  const own: Matcher[] = application === "" ? []
    : [{ start: 0, end: 0, name: "service_name", operator: "=", value: application }];

  return written(isType(head) ? head : "", [...own, ...rest]);
}

/** The query with one more matcher; one of the same label with "=" gives way. */
export function withMatcher(query: string, label: string, value: string): string {
  const { head, matchers } = parseQuery(query);
  const rest = matchers.filter(({ name, operator }) => name !== label || operator !== "=");

  if (label === "service_name" && head !== "" && !isType(head))
    return withApplication(query, value);
  return written(head, [...rest, { start: 0, end: 0, name: label, operator: "=", value }]);
}

/** The query without its matcher number `index`. */
export function withoutMatcher(query: string, index: number): string {
  const { head, matchers } = parseQuery(query);

  return written(head, matchers.filter((_, each) => each !== index));
}
