/** Tests of the comparison mode of Spans: baseline ranges, noise and the view in a
 * browser. */
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import type { Browser } from "puppeteer-core";
import { baselineNamed, baselineRange, type BaselineName } from "../src/model/baseline.ts";
import type { WireSpan } from "../src/model/wire.ts";
import { changedNames, perSpanChange, totalChange } from "../src/spans/name_change.ts";
import { accessibleInBothThemes } from "./axe.ts";
import { closeCleanly, open, startBrowser } from "./browser.ts";
import { rowsOf, textOf, waitForPageText } from "./content.ts";
import { Server } from "./server.ts";
import { pushSpan, SAMPLE_NS, spanId } from "./shop.ts";
import { parameter, waitForParameter, waitForText } from "./wait.ts";

const MINUTE_MS = 60_000;
const now = Math.floor(Date.now() / 1000) * 1000;
let server: Server, browser: Browser;

before(async () => {
  server = await Server.start();
  browser = await startBrowser();
  let id = 0;
  // 60 spans of each name in both halves of the last hour. GET /search costs three times
  // as much in the second half. "POST /new" exists only there.
  for (const [half, factor] of [[45, 1], [15, 6]] as const)
    for (let at = 0; at < 60; at++) {
      const untilMs = now - half * MINUTE_MS;
      await pushSpan(server, { id: spanId(++id), name: "GET /cart", stacks: `main;cart ${60 + at % 3 + half % 2}`, untilMs });
      await pushSpan(server, { id: spanId(++id), name: "GET /search", stacks: `main;search ${2 * factor}\nmain;parse 3`, untilMs });
      if (half === 15)
        await pushSpan(server, { id: spanId(++id), name: "POST /new", stacks: "main;new 1", untilMs });
    }
});

after(async () => {
  await browser.close();
});

const named = (name: string, spans: number, samples: number): WireSpan =>
  ({ name, service: "shop", total: samples * SAMPLE_NS, samples, spans, traced: 0 });

test("baseline ranges have the length of the range and keep the time of day", () => {
  const range = { fromMs: Date.parse("2026-11-26T14:05:00"), untilMs: Date.parse("2026-11-26T15:00:00") };
  const begins = (name: BaselineName): number => {
    const base = baselineRange(range, name);
    assert.equal(base.untilMs - base.fromMs, range.untilMs - range.fromMs);
    return base.fromMs;
  };

  assert.equal(begins("before"), Date.parse("2026-11-26T13:10:00"));
  assert.equal(begins("yesterday"), Date.parse("2026-11-25T14:05:00"));
  assert.equal(begins("week"), Date.parse("2026-11-19T14:05:00"));
  assert.equal(baselineNamed("week"), "week");
  assert.equal(baselineNamed("toString"), null);
});

test("names are paired, and those of one side are new or gone", () => {
  const rows = changedNames([named("a", 1, 1), { ...named("b", 1, 1), service: "mail" }], [named("b", 2, 2), named("c", 1, 1)]);

  assert.deepEqual(rows.map(({ name, service, base, now: side }) => [name, service, base?.samples, side?.samples]),
    [["b", null, 1, 2], ["c", "shop", undefined, 1], ["a", "shop", 1, undefined]]);
});

test("a change of few spans is noise, however many samples they have", () => {
  const change = (base: WireSpan, side: WireSpan): ReturnType<typeof perSpanChange> => perSpanChange(changedNames([base], [side])[0]!);

  assert.equal(change(named("a", 2, 10_000), named("a", 2, 30_000)).isNoise, true);
  assert.equal(change(named("a", 1000, 10_000), named("a", 1000, 10_100)).isNoise, true);
  assert.equal(change(named("a", 1000, 10_000), named("a", 1000, 14_000)).isNoise, false);
  assert.equal(change(named("a", 1000, 10_000), named("a", 1000, 10_000)).isNoise, true);
  assert.equal(change(named("a", 1000, 10_000), named("a", 1000, 14_000)).now, 14 * SAMPLE_NS);
});

test("more calls change the total, and not the value per span", () => {
  const [row] = changedNames([named("a", 1000, 10_000)], [named("a", 2000, 20_000)]);

  assert.equal(totalChange(row!).isNoise, false);
  assert.equal(perSpanChange(row!).isNoise, true);
});

test("a random change within the interval is rarely taken for a real one", () => {
  let seed = 1, wrong = 0, outside = 0;
  const random = (): number => (seed = seed * 48271 % 2147483647) / 2147483647;
  const poisson = (mean: number): number => {
    let number = 0;
    for (let product = random(); product > Math.exp(-mean); product *= random())
      number++;
    return number;
  };
  // Spans cost between 0 and twice their average of 8 samples.
  const side = (): WireSpan => {
    const spans = poisson(100);
    return named("a", spans, Array.from({ length: spans }, () => poisson(16 * random())).reduce((sum, each) => sum + each, 0));
  };

  for (let round = 0; round < 2000; round++) {
    const [row] = changedNames([side()], [side()]);
    const change = perSpanChange(row!);
    wrong += [change, totalChange(row!)].filter(({ isNoise }) => !isNoise).length;
    outside += Number(Math.abs(change.now! - change.base!) > change.margin);
  }
  assert.ok(wrong <= 2, `${wrong} of 4,000 changes`);
  assert.ok(outside < 0.05 * 2000, `${outside} of 2,000 intervals`);
});

test("the comparison mode ranks real changes first, and shows the difference of the first name", async () => {
  const opened = await open(browser, `${server.base}spans?query=shop.cpu&from=now-30m`);
  const { page } = opened;

  await rowsOf(page, "Span names");
  await page.select("select:has(option[value=yesterday])", "before");
  await waitForParameter(page, "against", "before");
  const rows = await rowsOf(page, "Changed span names");
  assert.deepEqual(rows.map(([name]) => name), ["GET /search", "POST /new", "GET /cart"]);
  assert.equal(rows[0]![2], "50.0 ms \u2192 150 ms");
  assert.match(rows[0]![3]!, /^\+100 ms \u00b1 \d\d\.\d ms \(\+200\.0 %\)$/);
  assert.equal(rows[0]![6], "60 \u2192 60");
  assert.match(rows[1]![5]!, /^\+600 ms \u00b1 .* \(new\)$/);
  assert.match(rows[2]![3]!, /noise$/);
  await waitForText(page, "#of-name", "Change of CPU of GET /search");
  await page.waitForSelector('section[aria-labelledby="of-name"] canvas');
  assert.match(await textOf(page, ".summary"), /^CPU in spans: .* \u2192 .*Diff of all$/);
  await page.click('button[aria-label="Flame graph of GET /cart"]');
  await waitForText(page, "#of-name", "GET /cart");
  await page.reload();
  await waitForText(page, "#of-name", "Change of CPU of GET /cart");
  await accessibleInBothThemes(page);
  await page.click(".summary a");
  await page.waitForSelector(".view-comparison-diff .summary");
  assert.equal(Number(parameter(page, "from")) - Number(parameter(page, "leftFrom")), 30 * MINUTE_MS);
  assert.equal(parameter(page, "against"), null);
  await closeCleanly(opened);
});

test("an empty baseline and an empty range are explained", async () => {
  const opened = await open(browser, `${server.base}spans?query=shop.cpu&against=week`);
  const { page } = opened;

  await rowsOf(page, "Changed span names");
  await waitForPageText(page, "The baseline has no spans.");
  await page.goto(`${server.base}spans?query=shopp.cpu&against=week`);
  await waitForPageText(page, "No application named");
  await closeCleanly(opened);
});
