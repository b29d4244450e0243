/** Tests of the waterfall's zoom and layout, and of the flame graph below it. */
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import type { Browser, Page } from "puppeteer-core";
import { accessibleInBothThemes } from "./axe.ts";
import { closeCleanly, open, startBrowser } from "./browser.ts";
import { textOf } from "./content.ts";
import { Server } from "./server.ts";
import { pushSpan, spanId, traceId } from "./shop.ts";
import type { WireTraceSpan, WireTraceWindow } from "../src/model/wire.ts";
import { forestOf } from "../src/trace/forest.ts";
import { areUseful, lanesOf } from "../src/trace/lanes.ts";
import { partText, readPart } from "../src/trace/part.ts";
import { timeText } from "../src/trace/waterfall.ts";

/** A whole second, as the starts of the profiles. */
const startMs = Math.floor(Date.now() / 1000) * 1000 - 65_000;
let server: Server, browser: Browser;

before(async () => {
  server = await Server.start();
  browser = await startBrowser();
  await server.pushTrace("shop", [
    { traceId: traceId(1), spanId: spanId(1), name: "GET /cart", startMs, durationMs: 400 },
    { traceId: traceId(1), spanId: spanId(2), parentSpanId: spanId(1), name: "render", startMs: startMs + 50, durationMs: 300 },
    { traceId: traceId(1), spanId: spanId(3), parentSpanId: spanId(2), name: "query", startMs: startMs + 60, durationMs: 100 },
    { traceId: traceId(1), spanId: spanId(4), parentSpanId: spanId(1), name: "early", startMs: startMs + 70, durationMs: 10 },
  ]);
  await server.pushTrace("blank", [{ traceId: traceId(6), spanId: spanId(60), name: " \u200b\u2003", startMs, durationMs: 1 }]);
  await server.pushTrace("batch", [
    { traceId: traceId(7), spanId: spanId(70), name: "nightly", startMs: startMs - 30_000, durationMs: 50_000 },
    { traceId: traceId(7), spanId: spanId(71), parentSpanId: spanId(70), name: "sort", startMs: startMs - 20_000, durationMs: 20_000 },
  ]);
  await pushSpan(server, { id: spanId(70), name: "nightly", service: "batch", stacks: "main;read 50", untilMs: startMs - 20_000 });
  await pushSpan(server, { id: spanId(71), name: "sort", service: "batch", stacks: "main;sort 100", untilMs: startMs - 10_000 });
  await pushSpan(server, { id: spanId(1), name: "GET /cart", stacks: "main;cart 3", untilMs: startMs + 5000 });
  await pushSpan(server, { id: spanId(2), name: "render", stacks: "main;render 12", untilMs: startMs + 5000 });
});

after(async () => {
  await browser.close();
});

const rows = async (page: Page): Promise<void> => { await page.waitForSelector('[role="treegrid"] [data-index]'); };

const chosen = async (page: Page): Promise<string> => await page.$eval('[role="treegrid"] [aria-selected="true"] .text', (name) => name.textContent);

test("a part of a trace is read from the address, and its times tell neighbours apart", () => {
  assert.deepEqual(readPart("100000-300000", 400_000), { fromNs: 100_000, untilNs: 300_000 });
  for (const text of [undefined, "", "9-5", "500000-600000", "a-b", "-1-5"])
    assert.deepEqual(readPart(text, 400_000), { fromNs: 0, untilNs: 400_000 }, text);
  // Parts of less than a microsecond, and parts beyond the end.
  assert.deepEqual(readPart("5-6", 400_000), { fromNs: 5, untilNs: 1005 });
  assert.deepEqual(readPart("300000-900000", 400_000), { fromNs: 0, untilNs: 400_000 });
  assert.deepEqual(readPart("0-5", 0), { fromNs: 0, untilNs: 1 });
  assert.equal(partText({ fromNs: 0, untilNs: 400_000 }, 400_000), undefined);
  assert.equal(partText({ fromNs: 5, untilNs: 9000 }, 400_000), "5-9000");
  assert.deepEqual([timeText(0, 1e9), timeText(2e8, 1e9), timeText(1.2345e9, 1e6), timeText(7.2e12, 3.6e13)], ["0", "0.20 s", "1.23450 s", "2.00 h"]);
});

/** The bar of a row: its left edge and width in per cent of the time column; null if the
 * span is outside of the shown time. */
const barOf = async (page: Page, index: number): Promise<number[] | null> => await page.$eval(`[data-index="${index}"]`, (row) => {
  const bar = row.querySelector<HTMLElement>(".time-bar");
  return bar && [bar.style.left, bar.style.width].map((text) => Math.round(parseFloat(text) * 10) / 10);
});

test("the waterfall zooms by dragging, keys and buttons, and the address keeps its part", async () => {
  const opened = await open(browser, `${server.base}trace?trace=${traceId(1)}`);
  const { page } = opened;

  await rows(page);
  const time = await page.$eval('[data-index="1"] .time', (cell) => {
    const { left, top, width, height } = cell.getBoundingClientRect();
    return { left, y: top + height / 2, width };
  });
  await page.mouse.move(time.left + time.width * 0.25, time.y);
  await page.mouse.down();
  await page.mouse.move(time.left + time.width * 0.6, time.y);
  await page.mouse.move(time.left + time.width * 0.75, time.y);
  await page.mouse.up();
  // The trace lasts 400 ms: the part is about 100 to 300 ms. "render" lasts from 50 to 350 ms.
  await page.waitForFunction(() => new URL(location.href).searchParams.has("part"));
  const [from, until] = new URL(page.url()).searchParams.get("part")!.split("-").map((ns) => Number(ns) / 1e6) as [number, number];
  assert.ok(Math.abs(from - 100) < 3 && Math.abs(until - 300) < 3, `${from} ${until}`);
  assert.deepEqual(await barOf(page, 1), [0, 100]);
  assert.equal(await barOf(page, 3), null);
  assert.match(await textOf(page, '[data-index="3"] .bar-text'), /\u25c2 10\.0 ms/);
  // A drag selects no row.
  assert.equal(await chosen(page), "GET /cart");
  await page.reload();
  await rows(page);
  assert.deepEqual(await barOf(page, 1), [0, 100]);
  await page.focus('[role="treegrid"]');
  await page.keyboard.press("0");
  assert.deepEqual(await barOf(page, 1), [12.5, 75]);
  await page.waitForFunction(() => !new URL(location.href).searchParams.has("part"));
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("z");
  // "render"'s child: 60 to 160 ms, and a tenth of its duration on both sides.
  assert.deepEqual(await barOf(page, 2), [8.3, 83.3]);
  await page.keyboard.press("+");
  assert.deepEqual(await barOf(page, 2), [0, 100]);
  await page.keyboard.press("-");
  assert.deepEqual(await barOf(page, 2), [8.3, 83.3]);
  await page.keyboard.down("Shift");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.up("Shift");
  assert.deepEqual(await barOf(page, 2), [0, 66.7]);
  await page.evaluate(() => { Array.from(document.querySelectorAll("button")).find((button) => button.textContent === "Show whole trace")!.click(); });
  assert.deepEqual(await barOf(page, 2), [15, 25]);
  await page.goto(`${server.base}trace?trace=${traceId(1)}&part=9-5`);
  await rows(page);
  assert.deepEqual(await barOf(page, 1), [12.5, 75]);
  await closeCleanly(opened);
});

test("a selected span shows its flame graph below the waterfall: three clicks from the landing page", async () => {
  const opened = await open(browser, server.base);
  const { page } = opened;
  const clickText = async (selector: string, text: string): Promise<void> => {
    await page.waitForFunction((at, wanted) => Array.from(document.querySelectorAll(at)).some((each) => each.textContent === wanted), {}, selector, text);
    await page.evaluate((at, wanted) => { (Array.from(document.querySelectorAll(at)).find((each) => each.textContent === wanted) as HTMLElement).click(); }, selector, text);
  };
  const functions = async (...names: string[]): Promise<void> => {
    await page.waitForFunction((wanted) => {
      const text = document.querySelector("section[aria-labelledby='trace-flame'] .stacks")?.textContent ?? "";
      return ["cart", "render"].every((name) => text.includes(name) === wanted.includes(name));
    }, {}, names);
  };

  await clickText(".nav-link", "Traces");
  await clickText('table[aria-label="Traces"] a', "GET /cart");
  await rows(page);
  assert.equal(await textOf(page, "#trace-flame"), "CPU of the whole trace");
  await functions("cart", "render");
  await page.click('[data-index="1"] .number');
  await page.waitForFunction(() => document.querySelector("#trace-flame")!.textContent === "CPU of render and its child spans");
  await functions("render");
  await page.click('[aria-label="Flame graph of"] button');
  await functions("cart", "render");
  // The choice of the whole trace stays.
  await page.click('[data-index="2"] .number');
  await page.waitForFunction((id) => new URL(location.href).searchParams.get("span") === id, {}, spanId(3));
  assert.equal(await textOf(page, "#trace-flame"), "CPU of the whole trace");
  await page.goto(`${server.base}trace?trace=${traceId(1)}&span=${spanId(1)}`);
  await page.waitForFunction(() => document.querySelector("#trace-flame")?.textContent === "CPU of GET /cart and its child spans");
  await functions("cart", "render");
  await closeCleanly(opened);
});

test("no gap is below a short waterfall, and the start has its time zone", async () => {
  for (const width of [1280, 1920, 400]) {
    const opened = await open(browser, `${server.base}trace?trace=${traceId(1)}`, width);
    await rows(opened.page);
    const gap = await opened.page.evaluate(() => {
      const box = (selector: string): DOMRect => document.querySelector(selector)!.getBoundingClientRect();
      return Math.max(box(".trace-body aside").top - box(".waterfall").bottom, box("#trace-flame").top - box(".trace-body").bottom);
    });
    assert.ok(gap >= 0 && gap < 40, String(gap));
    assert.match(await textOf(opened.page, ".summary"), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? UTC/);
    assert.equal(await opened.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
    await closeCleanly(opened);
  }
});

test("a span whose name is blank can be clicked", async () => {
  const opened = await open(browser, `${server.base}traces?service=blank`);
  const { page } = opened;

  await page.waitForSelector('table[aria-label="Traces"] a');
  assert.equal(await textOf(page, 'table[aria-label="Traces"] a'), "(blank name)");
  await page.click('table[aria-label="Traces"] a');
  await rows(page);
  assert.equal(await textOf(page, ".waterfall .text"), "(blank name)");
  await closeCleanly(opened);
});

const traceSpan = (id: string, parentId: string | null, startNs: number, durationNs: number): WireTraceSpan => ({
  spanId: id, parentId, name: id, service: "s", kind: 1, startNs, durationNs, status: 0, statusMessage: "", attributes: {}, own: 0, total: 0, samples: 0,
});
const traceWindow = (id: string, threadName: string | null, start: number, value: number): WireTraceWindow => ({
  spanId: id, service: "s", threadName, threadId: threadName === null ? null : "7", startNs: start, durationNs: 100, value, samples: value / 10,
});

test("the windows of a trace become lanes of threads, and lanes without news are not shown", () => {
  const forest = forestOf([traceSpan("a", null, 1000, 300), traceSpan("b", "a", 1010, 100)]);
  const lanes = lanesOf([
    traceWindow("a", "x", 950, 20), traceWindow("b", "x", 950, 50), traceWindow("b", "y", 950, 10), traceWindow("other", "z", 950, 10),
    traceWindow("a", "x", 1050, 30), traceWindow("a", "w", 1050, 0),
  ], forest);

  assert.deepEqual(lanes.map(({ thread, value }) => [thread, value]), [["x (7)", 100], ["y (7)", 10]]);
  assert.deepEqual(lanes[0]!.boxes, [
    { fromNs: -50, untilNs: 50, value: 70, samples: 7, largest: 1, largestValue: 50 },
    { fromNs: 50, untilNs: 150, value: 30, samples: 3, largest: 0, largestValue: 30 },
  ]);
  assert.equal(areUseful(lanes, 300), true);
  const alone = (...windows: WireTraceWindow[]): boolean => areUseful(lanesOf(windows, forest), 300);
  assert.equal(alone(), false);
  assert.equal(alone(traceWindow("a", null, 1000, 10)), false);
  assert.equal(alone(traceWindow("a", null, 1000, 10), traceWindow("a", null, 1100, 10)), true);
  assert.equal(areUseful(lanesOf([traceWindow("a", null, 1000, 10), traceWindow("a", null, 1100, 10)], forest), 90), false);
  assert.equal(alone(traceWindow("a", "x", 1000, 10), traceWindow("a", "y", 1000, 10)), true);
});

test("a trace longer than a profile shows its CPU time by profile, and short traces do not", async () => {
  const opened = await open(browser, `${server.base}trace?trace=${traceId(7)}`);
  const { page } = opened;
  const boxes = async (): Promise<number[][]> => await page.$$eval(".lane-box", (all) => (all as HTMLElement[]).map((box) =>
    [box.style.left, box.style.width, box.querySelector("i")!.style.height].map((text) => Math.round(parseFloat(text) * 10) / 10)));

  await rows(page);
  const whole = await boxes();
  // Profiles last 10 of the 50 s and begin at whole seconds.
  assert.deepEqual(whole.map(([, width, height]) => [width, height]), [[20, 50], [20, 100]]);
  assert.match(await textOf(page, ".lanes"), /A profile does not contain the times of its samples.*no labels of threads/s);
  await page.click(".lanes summary");
  assert.deepEqual(await page.$$eval(".lanes tbody tr", (all) => all.map((row) => Array.from(row.querySelectorAll("td"), (cell) => cell.textContent).filter((_, at) => at !== 1))),
    [["batch", "500 ms", "50", "nightly (500 ms)"], ["batch", "1.00 s", "100", "sort (1.00 s)"]]);
  await page.evaluate(() => { document.querySelectorAll<HTMLElement>(".lanes tbody button")[1]!.click(); });
  assert.equal(await chosen(page), "sort");
  await page.focus('[role="treegrid"]');
  await page.keyboard.press("z");
  assert.notDeepEqual(await boxes(), whole);
  await accessibleInBothThemes(page);
  await page.goto(`${server.base}trace?trace=${traceId(1)}`);
  await rows(page);
  assert.equal(await page.$(".lanes"), null);
  await closeCleanly(opened);
});

test("axe finds no serious problems in a zoomed waterfall", async () => {
  const opened = await open(browser, `${server.base}trace?trace=${traceId(1)}&part=100000000-300000000&span=${spanId(2)}`);

  await rows(opened.page);
  await opened.page.waitForSelector("section[aria-labelledby='trace-flame'] canvas");
  await accessibleInBothThemes(opened.page);
  await closeCleanly(opened);
});
