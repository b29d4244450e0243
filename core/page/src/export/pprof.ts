/** Writes a tree as a pprof profile (perftools.profiles.Profile of google/pprof's
 * profile.proto), for `go tool pprof` and `spanprof report`. A comparison has a second
 * value, "base". Other trees have a second value "samples" if the counts are known. */
import { WireReader } from "../adhoc/wire_reader.ts";
import { Bytes } from "./bytes.ts";
import type { Origin } from "./origin.ts";
import type { Tree } from "../model/tree.ts";

const TEXT_FIELD = 6;
const COMMENT_FIELD = 13;
const LINK_FIELD = 15;

class Texts {
  readonly list: string[] = [""];
  private readonly known = new Map([["", 0]]);

  of(text: string): number {
    let number = this.known.get(text);

    if (number === undefined) {
      number = this.list.push(text) - 1;
      this.known.set(text, number);
    }
    return number;
  }
}

function valueType(texts: Texts, type: string, unit: string): Uint8Array {
  return new Bytes().number(1, texts.of(type)).number(2, texts.of(unit)).view();
}

function putSamples(out: Bytes, tree: Tree): void {
  const [stack, values, sample] = [new Bytes(), new Bytes(), new Bytes()];

  for (let node = 0; node < tree.parent.length; node++) {
    const self = tree.self[node]!;
    const base = tree.baseSelf?.[node] ?? 0;
    if (self === 0 && base === 0)
      continue;
    // Innermost frame first. The id of a location is its function's index plus 1.
    stack.clear();
    for (let at = node; at > 0; at = tree.parent[at]!)
      stack.varint(tree.functionOf[at]! + 1);
    values.clear().varint(self);
    if (tree.baseSelf)
      values.varint(base);
    if (tree.samples && !tree.baseSelf)
      values.varint(tree.samples[node]!);
    out.part(2, sample.clear().part(1, stack.view()).part(2, values.view()).view());
  }
}

function putFunctions(out: Bytes, tree: Tree, texts: Texts): void {
  const { name, file, line } = tree.functions;
  const used = new Set(tree.functionOf);
  const [at, content] = [new Bytes(), new Bytes()];

  for (let index = 0; index < name.length; index++) {
    if (!used.has(index))
      continue;
    const text = texts.of(name[index]!);
    at.clear().number(1, index + 1).number(2, line[index]!);
    out.part(4, content.clear().number(1, index + 1).part(4, at.view()).view());
    content.clear().number(1, index + 1).number(2, text).number(3, text).number(4, texts.of(file[index]!));
    out.part(5, content.number(5, line[index]!).view());
  }
}

/** Adds title and lines as comments, and the link. `textOf` returns the index of a text. */
function putOrigin(out: Bytes, textOf: (text: string) => number, title: string, { lines, link }: Pick<Origin, "lines" | "link">): void {
  for (const text of [title, ...lines])
    out.number(COMMENT_FIELD, textOf(text));
  if (link !== "")
    out.number(LINK_FIELD, textOf(link));
}

/** An uncompressed profile with title and origin. New texts follow the profile's own. */
export function withOrigin(profile: Uint8Array, title: string, origin: Pick<Origin, "lines" | "link">): Uint8Array<ArrayBuffer> {
  const out = new Bytes().append(profile);
  const reader = new WireReader(profile);
  const added: string[] = [];
  let count = 0;

  while (reader.next())
    count += Number(reader.field === TEXT_FIELD);
  putOrigin(out, (text) => count + added.push(text) - 1, title, origin);
  for (const text of added)
    out.part(TEXT_FIELD, new TextEncoder().encode(text));
  return out.copy();
}

/** The tree as uncompressed pprof; see packed(). The comments are the title and the
 * lines of the origin. The profile has no time if the range is not known. */
export function pprofOf(tree: Tree, title: string, { lines, link, range }: Pick<Origin, "lines" | "link" | "range">): Uint8Array<ArrayBuffer> {
  const out = new Bytes();
  const texts = new Texts();
  const type = valueType(texts, tree.type, tree.unit);

  out.part(1, type);
  if (tree.baseSelf)
    out.part(1, valueType(texts, "base", tree.unit));
  if (tree.samples && !tree.baseSelf)
    out.part(1, valueType(texts, "samples", "count"));
  putSamples(out, tree);
  putFunctions(out, tree, texts);
  // Compute with BigInt, since the number of nanoseconds since 1970 exceeds 2^53.
  if (range)
    out.varint(9 << 3).bigVarint(BigInt(Math.round(range.fromMs)) * 1_000_000n)
      .varint(10 << 3).bigVarint(BigInt(Math.round(range.untilMs - range.fromMs)) * 1_000_000n);
  // Omit the period, since the periods of merged profiles may differ.
  out.part(11, type).number(14, texts.of(tree.type));
  putOrigin(out, (text) => texts.of(text), title, { lines, link });
  for (const text of texts.list)
    out.part(TEXT_FIELD, new TextEncoder().encode(text));
  return out.copy();
}

/** Compresses bytes with gzip. */
export async function packed(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));

  return new Uint8Array(await new Response(stream).arrayBuffer());
}
