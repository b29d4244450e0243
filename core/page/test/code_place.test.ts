import { test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CodePlaces } from "../src/flame/stacks/code_place.ts";

type Case = readonly [file: string, kind: string, name: string, short: string];

/** The cases of each profile. */
function casesOf(): Case[][] {
  const text = readFileSync(join(process.cwd(), "test/code_place/cases.tsv"), "utf8");

  return text.split("\n\n").map((profile) => profile.split("\n").filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.split("\t") as unknown as Case)).filter((cases) => cases.length > 0);
}

test("each file has its kind, package and short path", () => {
  let count = 0;

  for (const cases of casesOf()) {
    const places = new CodePlaces(cases.map(([file]) => file));
    for (const [file, kind, name, short] of cases) {
      assert.deepEqual(places.of(file), { kind, package: name, short }, file);
      count++;
    }
  }
  assert.ok(count > 60);
});

test("an executable is the program's own code only without source files", () => {
  assert.ok(new CodePlaces(["embed", "libc.so.6"]).isOwn("embed"));
  assert.ok(!new CodePlaces(["embed", "libc.so.6"]).isOwn("libc.so.6"));
  assert.ok(!new CodePlaces(["uwsgi", "/srv/app.py"]).isOwn("uwsgi"));
  assert.ok(new CodePlaces(["uwsgi", "/srv/app.py"]).isOwn("/srv/app.py"));
});

test("hostile paths take little time", () => {
  const started = Date.now();

  for (const file of ["/gems/".repeat(100_000), "/".repeat(1_000_000), "/lib/python3.".repeat(50_000), `${"a-1".repeat(100_000)}/`, "/bin/".repeat(100_000)])
    new CodePlaces([file]).of(file);
  assert.ok(Date.now() - started < 1000);
});
