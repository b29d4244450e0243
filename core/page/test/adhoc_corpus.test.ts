/** Reads the files of test/corpus/ and checks their values. tests/server/adhoc_test.py
 * tests the server's reader with the same files. */
import { test } from "node:test";
import assert from "node:assert/strict";
import { File as NodeFile } from "node:buffer";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readFile, type ReadFile } from "../src/adhoc/read.ts";
import type { ParsedValue } from "../src/adhoc/parsed.ts";
import type { WireTree } from "../src/model/wire.ts";

type Stacks = Record<string, number>;

interface Expected {
  /** The default value of a profile with several values. */
  default?: string;
  values?: Record<string, Stacks>;
  before?: Stacks;
  /** The values of each thread of a file with several. */
  threads?: Record<string, Record<string, Stacks>>;
  /** True if the file has no numbers of samples. */
  uncounted?: boolean;
  /** A part of a note. */
  says?: string;
  /** A part of the error message. */
  refused?: string;
}

const CORPUS = join(process.cwd(), "test/corpus");
const EXPECTED = JSON.parse(readFileSync(join(CORPUS, "expected.json"), "utf8")) as Record<string, Expected>;
/** Text longer than the part of a file that is examined to recognise its format. */
const PAD = "x".repeat(70_000);

/** The content of a file. "@pad@" is replaced by a long text, since tools write JSON in one line. */
function contentOf(name: string): Uint8Array {
  const bytes = readFileSync(join(CORPUS, name));

  return bytes.includes("@pad@") ? new TextEncoder().encode(bytes.toString("utf8").replace("@pad@", PAD)) : bytes;
}

async function read(name: string): Promise<ReadFile> {
  return await readFile(new NodeFile([contentOf(name)], name) as unknown as File);
}

function stacksOf({ functions, nodes }: WireTree): Stacks {
  const paths = [""];
  const found: Stacks = {};

  nodes.self.forEach((value, node) => {
    const above = paths[nodes.parent[node]!]!;
    if (node > 0)
      paths[node] = (above === "" ? "" : `${above};`) + functions.name[nodes.function[node]!]!;
    if (value !== 0)
      found[paths[node]!] = (found[paths[node]!] ?? 0) + value;
  });
  return found;
}

function valuesOf(values: readonly ParsedValue[]): Record<string, Stacks> {
  return Object.fromEntries(values.map((each) => [each.name, stacksOf(each.tree)]));
}

test("every file of the corpus is read or refused as expected", async () => {
  for (const [name, expected] of Object.entries(EXPECTED)) {
    if (expected.refused !== undefined) {
      await assert.rejects(read(name), (error: Error) => error.message.includes(expected.refused!), name);
      continue;
    }
    const { values, before, notes, threads = [] } = await read(name);
    assert.deepEqual(valuesOf(values), expected.values, name);
    if (threads.length > 1)
      assert.deepEqual(Object.fromEntries(threads.map((each) => [each.name, valuesOf(each.values)])), expected.threads, name);
    assert.deepEqual(before && stacksOf(before[0]!.tree), expected.before, name);
    assert.equal(values[0]!.tree.nodes.samples === undefined, expected.uncounted ?? false, name);
    assert.equal(values[0]!.name, expected.default ?? Object.keys(expected.values!)[0], name);
    assert.ok(notes.join(" ").includes(expected.says ?? ""), name);
  }
});

test("expected.json lists all files of the corpus", () => {
  assert.deepEqual(readdirSync(CORPUS).filter((name) => !["expected.json", "make_pprof.py", "README.md"].includes(name)).sort(),
    Object.keys(EXPECTED).sort());
});
