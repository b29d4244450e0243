import { test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { exactMoment } from "../src/parts/format.ts";
import { zoneOf } from "../src/parts/zone.ts";
import { moved, rangeChange, rangeName, rangeOf, readTime, typedRange, typedTime, unreadable, widened } from "../src/model/range.ts";
import { readPeriod } from "../src/model/times.ts";

const NOW = 1_795_435_347_000;

/** Runs a function in a time zone. */
function inZone<T>(zone: string, run: () => T): T {
  const before = process.env["TZ"];

  process.env["TZ"] = zone;
  try {
    return run();
  } finally {
    if (before === undefined)
      delete process.env["TZ"];
    else
      process.env["TZ"] = before;
  }
}

test("the page parses times like the command and the server", () => {
  const lines = readFileSync("test/times/cases.tsv", "utf8").split("\n").filter((line) => line !== "" && !line.startsWith("#"));

  assert.ok(lines.length > 50);
  for (const line of lines) {
    const [zone, now, text, from, until] = line.split("\t") as [string, string, string, string, string];
    const expected = from === "-" ? null : { fromMs: Date.parse(from), untilMs: Date.parse(until) };
    assert.deepEqual(inZone(zone, () => readPeriod(text, Date.parse(now), "local")), expected, line);
    if (zone === "UTC")
      assert.deepEqual(readPeriod(text, Date.parse(now), "utc"), expected, line);
  }
});

test("times of an address are in UTC in every time zone", () => {
  inZone("Asia/Kolkata", () => {
    assert.equal(readTime("14:05", NOW), Date.UTC(2026, 10, 23, 14, 5));
    assert.deepEqual(rangeOf("yesterday", undefined, NOW), { fromMs: Date.UTC(2026, 10, 22), untilMs: Date.UTC(2026, 10, 23) });
    assert.deepEqual(rangeOf("yesterday", "now", NOW), { fromMs: Date.UTC(2026, 10, 22), untilMs: NOW });
  });
});

test("a typed day or week alone is the whole day or week", () => {
  const typed = (from: string, until: string): unknown => inZone("Asia/Kolkata", () => typedRange(from, until, NOW));
  const local = (day: number, hours = 0, minutes = 0): string => String(Date.UTC(2026, 10, day, hours, minutes) - 19_800_000);

  assert.deepEqual(typed("yesterday", ""), { from: local(22), until: local(23) });
  assert.deepEqual(typed("yesterday", "yesterday"), { from: local(22), until: local(23) });
  assert.deepEqual(typed("yesterday", "today"), { from: local(22), until: local(23) });
  assert.deepEqual(typed("last week", " "), { from: local(16), until: local(23) });
  assert.deepEqual(typed("yesterday 14:00", "now"), { from: local(22, 14), until: "now" });
  assert.deepEqual(typed("-1h", ""), { from: "now-1h", until: "now" });
  assert.deepEqual(typed("13:0", "now"), { invalid: "13:0" });
  assert.deepEqual(typed("now-1h", "noon"), { invalid: "noon" });
  assert.equal(unreadable("13:0"), "Can\u2019t read \u201c13:0\u201d. Try 2026-11-26 13:00 or now-90m.");
});

test("typed dates become milliseconds, and relative times stay", () => {
  assert.equal(typedTime("2026-11-23 15:04", NOW), String(new Date(2026, 10, 23, 15, 4).getTime()));
  assert.equal(typedTime("2026-11-23T15:04:05Z", NOW), String(Date.UTC(2026, 10, 23, 15, 4, 5)));
  assert.equal(typedTime(" now-90m ", NOW), "now-90m");
  assert.equal(typedTime("2026-13-45", NOW), null);
  assert.equal(typedTime("14:05", NOW), String(new Date(2026, 10, new Date(NOW).getDate(), 14, 5).getTime()));
  assert.equal(typedTime("yesterday", NOW), String(new Date(2026, 10, new Date(NOW).getDate() - 1).getTime()));
  assert.equal(typedTime("-1h", NOW), "now-1h");
  assert.equal(typedTime("tomorrow", NOW), null);
});

test("times before 2001 are written with 13 digits", () => {
  const ms = Date.UTC(2000, 0, 1);

  assert.equal(typedTime("2000-01-01T00:00Z", NOW), `0${ms}`.padStart(13, "0"));
  assert.equal(readTime(rangeChange({ fromMs: ms, untilMs: NOW }).from, NOW), ms);
  assert.equal(readTime(rangeChange({ fromMs: 0, untilMs: NOW }).from, NOW), 0);
  assert.equal(typedTime("1969-07-20 20:17", NOW), null);
});

test("a formatted time with milliseconds can be parsed", () => {
  assert.equal(typedTime(exactMoment(NOW + 7), NOW), String(NOW + 7));
  assert.equal(typedTime(exactMoment(NOW), NOW), String(NOW));
});

test("a time zone is written as its offset from UTC", () => {
  for (const [zone, expected] of [["UTC", "UTC"], ["Asia/Kolkata", "UTC+05:30"], ["America/St_Johns", "UTC\u221203:30"]] as const)
    assert.equal(inZone(zone, () => zoneOf(NOW)), expected);
});

test("steps keep the length of a range, and zooming out ends at the present", () => {
  const range = { fromMs: NOW - 3_600_000, untilMs: NOW };

  assert.deepEqual(moved(range, -0.5), { fromMs: NOW - 5_400_000, untilMs: NOW - 1_800_000 });
  assert.deepEqual(widened(range, NOW), { fromMs: NOW - 5_400_000, untilMs: NOW });
  assert.equal(rangeOf("tomorrow", undefined, NOW), null);
  assert.equal(rangeName(undefined, undefined), "Last hour");
});
