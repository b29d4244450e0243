import { test } from "node:test";
import assert from "node:assert/strict";
import { moved, rangeName, rangeOf, readTime, typedTime, widened } from "../src/model/range.ts";

const NOW = 1_795_435_347_000;

test("times are read as the server reads them", () => {
  for (const [text, ms] of [
    ["now", NOW], ["now-1h30m", NOW - 5_400_000], ["now+5min", NOW + 300_000], ["now-1M", NOW - 30 * 86_400_000],
    ["1795434000", 1_795_434_000_000], ["1795434000000", 1_795_434_000_000], ["1795434000000000", 1_795_434_000_000],
    ["1795434000000000000", 1_795_434_000_000], ["20261123", Date.UTC(2026, 10, 23)],
    ["", null], ["now-", null], ["now-1x", null], ["now1h", null], ["1.5", null], ["now-constructor", null],
  ] as const)
    assert.equal(readTime(text, NOW), ms, text);
});

test("a typed day and time becomes milliseconds, what moves stays as it is", () => {
  assert.equal(typedTime("2026-11-23 15:04", NOW), String(new Date(2026, 10, 23, 15, 4).getTime()));
  assert.equal(typedTime("2026-11-23T15:04:05Z", NOW), String(Date.UTC(2026, 10, 23, 15, 4, 5)));
  assert.equal(typedTime(" now-90m ", NOW), "now-90m");
  assert.equal(typedTime("2026-13-45", NOW), null);
  assert.equal(typedTime("yesterday", NOW), null);
});

test("steps keep a range's length, and zooming out does not go beyond now", () => {
  const range = { fromMs: NOW - 3_600_000, untilMs: NOW };

  assert.deepEqual(moved(range, -0.5), { fromMs: NOW - 5_400_000, untilMs: NOW - 1_800_000 });
  assert.deepEqual(widened(range, NOW), { fromMs: NOW - 5_400_000, untilMs: NOW });
  assert.equal(rangeOf("yesterday", undefined, NOW), null);
  assert.equal(rangeName(undefined, undefined), "Last hour");
});
