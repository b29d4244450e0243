import { test } from "node:test";
import assert from "node:assert/strict";
import { exactMoment, zoneOf } from "../src/parts/format.ts";
import { moved, rangeChange, rangeName, rangeOf, readTime, typedTime, widened } from "../src/model/range.ts";

const NOW = 1_795_435_347_000;

test("times are parsed like on the server", () => {
  for (const [text, ms] of [
    ["now", NOW], ["now-1h30m", NOW - 5_400_000], ["now+5min", NOW + 300_000], ["now-1M", NOW - 30 * 86_400_000],
    ["1795434000", 1_795_434_000_000], ["1795434000000", 1_795_434_000_000], ["1795434000000000", 1_795_434_000_000],
    ["1795434000000000000", 1_795_434_000_000], ["20261123", Date.UTC(2026, 10, 23)], ["-1h30m", NOW - 5_400_000],
    ["today", Date.UTC(2026, 10, 23)], ["yesterday", Date.UTC(2026, 10, 22)], ["yesterday 14:05", Date.UTC(2026, 10, 22, 14, 5)],
    ["14:05:30", Date.UTC(2026, 10, 23, 14, 5, 30)], ["2026-11-23T14:05:00.5Z", Date.UTC(2026, 10, 23, 14, 5, 0, 500)],
    ["2026-11-23 14:05+02:00", Date.UTC(2026, 10, 23, 12, 5)], ["14:05Z", Date.UTC(2026, 10, 23, 14, 5)],
    ["", null], ["tomorrow", null], ["25:00", null], ["now-", null], ["now-1x", null], ["now1h", null], ["1.5", null], ["now-constructor", null],
  ] as const)
    assert.equal(readTime(text, NOW), ms, text);
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
  const before = process.env["TZ"];

  for (const [zone, expected] of [["UTC", "UTC"], ["Asia/Kolkata", "UTC+05:30"], ["America/St_Johns", "UTC\u221203:30"]] as const) {
    process.env["TZ"] = zone;
    assert.equal(zoneOf(NOW), expected);
  }
  if (before === undefined)
    delete process.env["TZ"];
  else
    process.env["TZ"] = before;
});

test("steps keep the length of a range, and zooming out ends at the present", () => {
  const range = { fromMs: NOW - 3_600_000, untilMs: NOW };

  assert.deepEqual(moved(range, -0.5), { fromMs: NOW - 5_400_000, untilMs: NOW - 1_800_000 });
  assert.deepEqual(widened(range, NOW), { fromMs: NOW - 5_400_000, untilMs: NOW });
  assert.equal(rangeOf("tomorrow", undefined, NOW), null);
  assert.equal(rangeName(undefined, undefined), "Last hour");
});
