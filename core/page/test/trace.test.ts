/** Tests of the views Traces and Trace in a browser. */
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import type { Browser, Page } from "puppeteer-core";
import { accessibleInBothThemes } from "./axe.ts";
import { closeCleanly, open, startBrowser } from "./browser.ts";
import { Server, type TraceSpan } from "./server.ts";
import { pushSpan, spanId, traceId } from "./shop.ts";
import { rowsOf, waitForPageText, textOf } from "./content.ts";

const now = Date.now();
const BIG = 10_000;
let server: Server, browser: Browser;

/** A trace in which each span has ten children. */
function bigTrace(): TraceSpan[] {
  return Array.from({ length: BIG }, (_, at): TraceSpan => ({
    traceId: traceId(500), spanId: spanId(100_000 + at), name: `step ${at}`, startMs: now - 40_000 + Math.floor(at / 10), durationMs: 2000,
    ...at > 0 ? { parentSpanId: spanId(100_000 + Math.floor((at - 1) / 10)) } : {},
  }));
}

before(async () => {
  server = await Server.start();
  browser = await startBrowser();
  const startMs = now - 65_000;
  await server.pushTrace("shop", [
    { traceId: traceId(1), spanId: spanId(1), name: "GET /cart", startMs, durationMs: 400, attributes: { "http.route": "/cart" } },
    { traceId: traceId(1), spanId: spanId(2), parentSpanId: spanId(1), name: "render", startMs: startMs + 50, durationMs: 300 },
    { traceId: traceId(1), spanId: spanId(3), parentSpanId: spanId(2), name: "<b onclick=alert(1)>\u202efdp", startMs: startMs + 60, durationMs: 100, attributes: { big: "y".repeat(100_000) } },
    { traceId: traceId(1), spanId: spanId(4), parentSpanId: spanId(999), name: "lost", startMs: startMs + 70, durationMs: 10 },
    { traceId: traceId(2), spanId: spanId(20), name: "POST /order", startMs: startMs + 5000, durationMs: 1500 },
    { traceId: traceId(2), spanId: spanId(21), parentSpanId: spanId(20), name: "charge", startMs: startMs + 5100, durationMs: 100, status: 2, attributes: { "card.type": "a b" } },
    { traceId: traceId(3), spanId: spanId(30), name: "idle", startMs: startMs - 20_000, durationMs: 50 },
    { traceId: traceId(4), spanId: spanId(41), name: "front", startMs: startMs + 100, durationMs: 100 },
    { traceId: traceId(4), spanId: spanId(42), parentSpanId: spanId(41), name: "behind", startMs, durationMs: 60 },
  ]);
  await server.pushTrace("jobs", [{ traceId: traceId(5), spanId: spanId(50), name: "nightly", startMs: startMs - 1000, durationMs: 90 }]);
  await server.pushTrace("shop", bigTrace());
  await pushSpan(server, { id: spanId(1), name: "GET /cart", stacks: "main;cart 3", untilMs: now - 60_000 });
  await pushSpan(server, { id: spanId(2), name: "render", stacks: "main;render 12", untilMs: now - 60_000 });
  await pushSpan(server, { id: spanId(20), name: "POST /order", stacks: "main;order 70", untilMs: now - 60_000 });
});

after(async () => {
  await browser.close();
});

const traceNames = async (page: Page): Promise<string[]> => {
  await rowsOf(page, "Traces");
  return await page.$$eval('table[aria-label="Traces"] tbody a', (links) => links.map(({ textContent }) => textContent));
};

/** The texts of the waterfall's rows that are in the document. */
async function waterfallRows(page: Page): Promise<string[][]> {
  await page.waitForSelector('[role="treegrid"] [data-index]');
  return await page.$$eval('[role="treegrid"] [data-index]', (rows) => rows.map((row) => [
    row.getAttribute("aria-level")!, row.querySelector(".text")!.textContent, ...Array.from(row.querySelectorAll(".number"), (cell) => cell.textContent),
  ]));
}

const chosen = async (page: Page): Promise<string> => await page.$eval('[role="treegrid"] [aria-selected="true"] .text', (name) => name.textContent);

test("traces can be sorted by start, duration and CPU, and filtered", async () => {
  const opened = await open(browser, `${server.base}traces`);
  const { page } = opened;

  // The latest trace comes first.
  assert.deepEqual(await traceNames(page), ["step 0", "POST /order", "front", "GET /cart", "nightly", "idle"]);
  const row = (await rowsOf(page, "Traces")).find((each) => each[0] === "GET /cart")!;
  assert.deepEqual([row[1], row[3], row[4], row[5], row[7]], ["shop", "400 ms", "150 ms", "15", traceId(1)]);
  await page.goto(`${server.base}traces?by=slowest`);
  assert.deepEqual((await traceNames(page)).slice(0, 3), ["step 0", "POST /order", "GET /cart"]);
  await page.goto(`${server.base}traces?by=dearest`);
  assert.deepEqual((await traceNames(page)).slice(0, 2), ["POST /order", "GET /cart"]);
  await page.type('input[name="minDuration"]', "1.2 s");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => new URL(location.href).searchParams.get("minDuration") === "1.2 s" && document.querySelectorAll('table[aria-label="Traces"] tbody tr').length === 2);
  await page.goBack();
  await page.waitForFunction(() => document.querySelectorAll('table[aria-label="Traces"] tbody tr').length > 2);
  await page.goto(`${server.base}traces?service=jobs`);
  assert.deepEqual(await traceNames(page), ["nightly"]);
  await page.type('input[name="minDuration"]', "soon");
  await page.keyboard.press("Enter");
  await waitForPageText(page, "Can\u2019t read \u201csoon\u201d");
  await closeCleanly(opened);
});

test("traces are filtered by service, errors and attributes, and counted", async () => {
  const opened = await open(browser, `${server.base}traces`);
  const { page } = opened;
  const listed = async (...names: string[]): Promise<void> => {
    await page.waitForFunction((wanted) => Array.from(document.querySelectorAll('table[aria-label="Traces"] tbody a'), (link) => link.textContent).join() === wanted, {}, names.join());
  };

  await waitForPageText(page, "6 traces. 850 ms CPU in total.");
  assert.deepEqual(await page.$$eval('select[name="service"] option', (options) => options.map(({ textContent }) => textContent)),
    ["All services", "shop (5)", "jobs (1)"]);
  await page.focus('select[name="service"]');
  await page.select('select[name="service"]', "jobs");
  await listed("nightly");
  // The keyboard's user continues at the same field.
  assert.equal(await page.evaluate(() => (document.activeElement as HTMLSelectElement).name), "service");
  await page.select('select[name="service"]', "");
  await page.waitForFunction(() => !new URL(location.href).searchParams.has("service"));
  await page.click('input[name="status"]');
  await listed("POST /order");
  await waitForPageText(page, "1 trace.");
  await page.reload();
  assert.equal(await page.$eval('input[name="status"]', (box) => (box).checked), true);
  await page.click('input[name="status"]');
  await page.waitForFunction(() => !new URL(location.href).searchParams.has("status"));
  await page.type('input[name="attributes"]', "http.route=/cart");
  await page.keyboard.press("Enter");
  await listed("GET /cart");
  await page.goto(`${server.base}traces?attributes=${encodeURIComponent('card.type="a b"')}`);
  await listed("POST /order");
  await page.goto(`${server.base}traces?attributes=${encodeURIComponent('card.type="a')}`);
  await waitForPageText(page, "the closing quote of card.type is missing");
  await closeCleanly(opened);
});

test("the list of traces marks errors of other spans, and roots that are not stored", async () => {
  const other = await Server.start();
  const startMs = now - 30_000;
  await other.pushTrace("shop", [
    { traceId: traceId(1), spanId: spanId(11), parentSpanId: spanId(10), name: "late", startMs: startMs + 20, durationMs: 40, status: 2 },
    { traceId: traceId(1), spanId: spanId(12), parentSpanId: spanId(10), name: "early", startMs, durationMs: 40, status: 2 },
    { traceId: traceId(2), spanId: spanId(20), name: "whole", startMs: startMs - 1000, durationMs: 40 },
    { traceId: traceId(2), spanId: spanId(21), parentSpanId: spanId(20), name: "child", startMs: startMs - 990, durationMs: 10, status: 2 },
    { traceId: traceId(3), spanId: spanId(30), parentSpanId: spanId(39), name: "calm", startMs: startMs - 2000, durationMs: 40 },
  ]);
  const opened = await open(browser, `${other.base}traces`);
  const { page } = opened;
  const firstCells = async (): Promise<string[]> => (await rowsOf(page, "Traces")).map((row) => row[0]!);

  await waitForPageText(page, "3 traces.");
  assert.deepEqual(await firstCells(), ["early error root not stored", "whole error in a span", "calm root not stored"]);
  await page.click('input[name="status"]');
  await waitForPageText(page, "2 traces.");
  // The root arrives, and the row shows it.
  await other.pushTrace("shop", [{ traceId: traceId(1), spanId: spanId(10), name: "root", startMs: startMs - 10, durationMs: 80 }]);
  await page.reload();
  await waitForPageText(page, "2 traces.");
  assert.deepEqual(await firstCells(), ["root error in 2 spans", "whole error in a span"]);
  await accessibleInBothThemes(page);
  await closeCleanly(opened);
  await other.stop();
});

test("an empty list of traces is explained and links to the latest trace", async () => {
  const opened = await open(browser, `${server.base}traces?from=now-3d&until=now-2d`);

  await waitForPageText(opened.page, "No traces in this time range");
  await waitForPageText(opened.page, "Latest trace:");
  await opened.page.goto(`${server.base}traces?name=none`);
  await waitForPageText(opened.page, "match the filters");
  await opened.page.goto(`${server.base}trace?trace=${traceId(77)}`);
  await waitForPageText(opened.page, "not found");
  await closeCleanly(opened);
});

test("traces are loaded page by page", async () => {
  const busy = await Server.start();
  await busy.pushTrace("shop", Array.from({ length: 120 }, (_, at) => ({
    traceId: traceId(at + 1), spanId: spanId(at + 1), name: `n${at}`, startMs: now - 1000 * (at + 1), durationMs: 5,
  })));
  const opened = await open(browser, `${busy.base}traces`);
  const { page } = opened;
  const seen = new Set<string>();

  await waitForPageText(page, "Traces 1\u201350 of 120.");

  for (let pages = 0; pages < 3; pages++) {
    for (const name of await traceNames(page))
      seen.add(name);
    const next = await page.evaluateHandle(() => Array.from(document.querySelectorAll("nav a")).find((link) => link.textContent === "Next page") ?? null);
    const link = next.asElement();
    if (!link)
      break;
    const before = page.url();
    await (link as unknown as { click: () => Promise<void> }).click();
    await page.waitForFunction((url) => location.href !== url && document.querySelector('table[aria-label="Traces"] tbody tr'), {}, before);
  }
  assert.equal(seen.size, 120);
  await closeCleanly(opened);
});

test("a waterfall shows self and total CPU of each span, and spans with missing parents", async () => {
  const opened = await open(browser, `${server.base}trace?trace=${traceId(1)}`);
  const { page } = opened;

  assert.deepEqual(await waterfallRows(page), [
    ["1", "GET /cart", "30.0 msfew", "150 ms"], ["2", "render", "120 ms", "120 ms"],
    ["3", "<b onclick=alert(1)>\ufffdfdp", "\u2013", "\u2013"], ["1", "lost", "\u2013", "\u2013"],
  ]);
  const share = await page.$eval('[data-index="1"] .bar-self', (bar) => (bar as HTMLElement).style.width);
  assert.equal(share, "40%");
  await waitForPageText(page, "1 span has a missing parent");
  await waitForPageText(page, "150 ms CPU in 15 samples");
  await waitForPageText(page, "http.route");
  await page.waitForSelector("section[aria-labelledby='trace-flame'] canvas");
  await closeCleanly(opened);
});

test("the waterfall works by keyboard and opens a span", async () => {
  const opened = await open(browser, `${server.base}trace?trace=${traceId(1)}`);
  const { page } = opened;

  await waterfallRows(page);
  await page.focus('[role="treegrid"]');
  await page.keyboard.press("ArrowDown");
  assert.equal(await chosen(page), "render");
  await page.keyboard.press("ArrowLeft");
  assert.equal((await waterfallRows(page)).length, 3);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  assert.match(await chosen(page), /onclick/);
  await waitForPageText(page, "Copy all 100,000 characters");
  await page.keyboard.press("End");
  assert.equal(await chosen(page), "lost");
  await page.keyboard.press("Home");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.pathname === "/span");
  await waitForPageText(page, "30.0 ms");
  assert.equal(new URL(page.url()).searchParams.get("span"), spanId(1));
  await page.goBack();
  await page.waitForFunction(() => location.pathname === "/trace");
  await waterfallRows(page);
  await page.click('[data-index="1"] a');
  await page.waitForFunction(() => location.pathname === "/span");
  await waitForPageText(page, "120 ms");
  await closeCleanly(opened);
});

test("a key held down in the waterfall writes the address at its start and after its release", async () => {
  const opened = await open(browser, `${server.base}trace?trace=${traceId(500)}`);
  const { page } = opened;

  await waterfallRows(page);
  await page.evaluate(() => {
    const counted = window as unknown as { written: number };
    const write = history.replaceState.bind(history);
    counted.written = 0;
    history.replaceState = (...state) => {
      counted.written++;
      write(...state);
    };
    const grid = document.querySelector('[role="treegrid"]')!;
    for (let at = 0; at < 300; at++)
      grid.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
  });
  const name = await chosen(page);
  const id = await page.$eval('[role="treegrid"] [aria-selected="true"] a', (link) => new URL(link.href).searchParams.get("span"));
  await page.waitForFunction((wanted) => new URL(location.href).searchParams.get("span") === wanted, {}, id);
  assert.equal(await page.evaluate(() => (window as unknown as { written: number }).written), 2);
  await page.reload();
  await waterfallRows(page);
  assert.match(await textOf(page, "aside"), new RegExp(name));
  await closeCleanly(opened);
});

test("different clocks are corrected, and shown as recorded on request", async () => {
  const opened = await open(browser, `${server.base}trace?trace=${traceId(4)}`);
  const { page } = opened;
  const left = async (index: number): Promise<string> => await page.$eval(`[data-index="${index}"] .time-bar`, (bar) => (bar as HTMLElement).style.left);

  await waterfallRows(page);
  assert.deepEqual([await left(0), await left(1)], ["0%", "20%"]);
  await waitForPageText(page, "host clocks differ");
  await page.click('.tools-row input[type="checkbox"]');
  await page.waitForFunction(() => new URL(location.href).searchParams.get("clock") === "recorded" && document.querySelector('[data-index="1"] .time-bar'));
  assert.deepEqual([await left(0), await left(1)], ["50%", "0%"]);
  await closeCleanly(opened);
});

test("badges do not cover the expander or the name of a span", async () => {
  for (const [trace, badge] of [[traceId(1), "no parent"], [traceId(4), "clock"]] as const) {
    const opened = await open(browser, `${server.base}trace?trace=${trace}`);
    await waterfallRows(opened.page);
    const places = await opened.page.$$eval(".waterfall .name", (cells) => cells.flatMap((cell) => {
      const tags = Array.from(cell.querySelectorAll(".tag"), (tag) => ({ text: tag.textContent, box: tag.getBoundingClientRect() }));
      const others = Array.from(cell.querySelectorAll(".twist, .swatch, .text, .service"), (other) => other.getBoundingClientRect());
      return tags.map(({ text, box }) => ({ text, isCovering: others.some((other) => box.left < other.right && other.left < box.right) }));
    }));
    assert.deepEqual(places, [{ text: badge, isCovering: false }]);
    await closeCleanly(opened);
  }
});

test("only the visible ones of 10,000 spans are in the document", async () => {
  const opened = await open(browser, `${server.base}trace?trace=${traceId(500)}`);
  const { page } = opened;
  const begun = Date.now();

  assert.ok((await waterfallRows(page)).length < 100);
  assert.equal(await page.$eval('[role="treegrid"]', (grid) => grid.getAttribute("aria-rowcount")), String(BIG + 1));
  await page.focus('[role="treegrid"]');
  await page.keyboard.press("End");
  const last = await chosen(page);
  await page.type('input[type="search"]', "step 5555");
  await page.keyboard.press("Enter");
  assert.notEqual(await chosen(page), last);
  assert.equal(await chosen(page), "step 5555");
  const height = await page.$eval('[role="treegrid"]', (grid) => grid.scrollHeight);
  assert.ok(height > BIG * 20, String(height));
  console.log(`# 10,000 spans: opened, ended and searched in ${Date.now() - begun} ms`);
  await page.click(".tools-row button");
  await page.waitForFunction(() => document.querySelectorAll("[data-index]").length === 1);
  assert.match(await textOf(page, "h1"), /step 0/);
  await closeCleanly(opened);
});

test("axe finds no serious problems in Traces and Trace", async () => {
  const opened = await open(browser, `${server.base}traces`);

  await traceNames(opened.page);
  await accessibleInBothThemes(opened.page);
  await opened.page.goto(`${server.base}trace?trace=${traceId(1)}`);
  await waterfallRows(opened.page);
  await opened.page.waitForSelector("section[aria-labelledby='trace-flame'] canvas");
  await accessibleInBothThemes(opened.page);
  await closeCleanly(opened);
});
