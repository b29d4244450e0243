import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, ElementHandle, Page } from "puppeteer-core";
import { pprofParsed } from "../src/adhoc/pprof.ts";
import { shownLines } from "../src/lines/table.ts";
import { accessibleInBothThemes } from "./axe.ts";
import { closeCleanly, open, startBrowser } from "./browser.ts";
import { pprof, type Sample } from "./pprof.ts";
import { Server } from "./server.ts";
import { clickText, parameter, waitForGraph, waitForParameter, waitForText } from "./wait.ts";

const SAMPLE_NS = 10_000_000;
const SPAN = "00000000000000a1";
const FROM_MS = Math.floor(Date.now() / 1000) * 1000 - 20_000;
const GRAPH = ".flame-scroll[aria-label='Flame graph']";
const TABLE = ".flame-table";

/** In the third sample, "price" calls itself. In the last sample, "price" has no line. */
const SAMPLES: Sample[] = [
  { stack: "main;total;price", lines: [3, 30, 12], valueNs: 3 * SAMPLE_NS },
  { stack: "main;total;price", lines: [3, 30, 14], valueNs: 2 * SAMPLE_NS },
  { stack: "main;price;price;price", lines: [4, 12, 14, 12], valueNs: 5 * SAMPLE_NS, labels: { profile_id: SPAN, span_name: "GET /cart" } },
  { stack: "main;price;tax", lines: [4, 14, 40], valueNs: SAMPLE_NS },
  { stack: "main;price", valueNs: SAMPLE_NS },
];
const PRICE = ["unknown 10.0 ms 8.3 % 10.0 ms 8.3 %", "12 80.0 ms 66.7 % 80.0 ms 66.7 %", "14 20.0 ms 16.7 % 80.0 ms 66.7 %"];

let server: Server;
let browser: Browser;
let files: string;

before(async () => {
  files = mkdtempSync(join(tmpdir(), "spanprof-lines-"));
  server = await Server.start();
  browser = await startBrowser();
  await pushShop(server);
  await server.pushFolded("plain.cpu", "main;work 10");
  await server.pushFolded("hostile.cpu", "main;<img src=x onerror=alert(1)>\u202e 10");
});

after(async () => {
  await browser.close();
  rmSync(files, { recursive: true });
});

async function pushShop(to: Server): Promise<void> {
  const query = new URLSearchParams({ name: "shop", format: "pprof", from: String(FROM_MS / 1000), until: String(FROM_MS / 1000 + 10) });

  await to.send(`ingest?${query.toString()}`, pprof(SAMPLES, FROM_MS, 10_000, SAMPLE_NS, "/app/models/cart.rb"), "application/octet-stream");
}

async function rows(page: Page): Promise<string[]> {
  await page.waitForSelector(".lines tbody tr");
  return await page.$$eval(".lines tbody tr", (all) => all.map((row) => [...row.children].map((cell) => (cell as HTMLElement).innerText.trim()).filter((each) => each !== "").join(" ")));
}

async function summary(page: Page, expected: string): Promise<void> {
  await waitForText(page, ".lines", expected);
}

test("a key opens the lines of a function, and Escape closes them", async () => {
  const opened = await open(browser, `${server.base}?query=shop.cpu`);
  const { page } = opened;

  await waitForGraph(page);
  await page.focus(TABLE);
  await page.keyboard.press("Home");
  await page.keyboard.press("l");
  assert.deepEqual(await rows(page), PRICE);
  assert.equal(parameter(page, "lines"), "price");
  await summary(page, "Lines of price");
  await summary(page, "/app/models/cart.rb");
  await summary(page, "Self 110 ms, total 120 ms, in 2 lines.");
  assert.equal(await page.evaluate(() => document.activeElement?.className), "lines");
  await accessibleInBothThemes(page);
  await page.keyboard.press("Escape");
  await page.waitForSelector(".lines[hidden]");
  assert.equal(parameter(page, "lines"), null);
  assert.ok(await page.$eval(TABLE, (table) => table === document.activeElement));
  await page.goBack();
  assert.deepEqual(await rows(page), PRICE);
  await closeCleanly(opened);
});

test("the menu of a frame opens the lines, and the address keeps them", async () => {
  const opened = await open(browser, `${server.base}?query=shop.cpu`, 400);
  const { page } = opened;

  await waitForGraph(page);
  await page.focus(GRAPH);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ContextMenu");
  await clickText(page, ".flame-menu button", "Lines");
  assert.deepEqual(await rows(page), ["unknown 10.0 ms 8.3 %", "3 50.0 ms 41.7 %", "4 60.0 ms 50.0 %"]);
  await page.reload();
  await summary(page, "Lines of main");
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await accessibleInBothThemes(page);
  await clickText(page, ".lines button", "Close lines");
  await page.waitForSelector(".lines[hidden]");
  await closeCleanly(opened);
});

test("the lines follow the selection, but not the filters of the graph", async () => {
  const opened = await open(browser, `${server.base}span?span=${SPAN}&lines=price`);
  const { page } = opened;

  assert.deepEqual(await rows(page), ["12 50.0 ms 100.0 % 50.0 ms 100.0 %", "14 50.0 ms 100.0 %"]);
  await page.goto(`${server.base}?${new URLSearchParams({ query: '{span_name="GET /cart"}', lines: "price" }).toString()}`);
  assert.deepEqual(await rows(page), ["12 50.0 ms 100.0 % 50.0 ms 100.0 %", "14 50.0 ms 100.0 %"]);
  await page.goto(`${server.base}?query=shop.cpu&lines=price&focus=tax`);
  assert.deepEqual(await rows(page), PRICE);
  await summary(page, "The filters of the graph do not change them.");
  await closeCleanly(opened);
});

test("functions without lines say so, and hostile names do no harm", async () => {
  const opened = await open(browser, `${server.base}?query=plain.cpu&lines=work`);
  const { page } = opened;

  await summary(page, "This profile has no line numbers for this function.");
  assert.equal(await page.$(".lines table"), null);
  await page.goto(`${server.base}?query=plain.cpu&lines=gone`);
  await summary(page, "The selected stacks do not contain this function.");
  await page.goto(`${server.base}?query=hostile.cpu`);
  await waitForGraph(page);
  await page.focus(TABLE);
  await page.keyboard.press("Home");
  await page.keyboard.press("l");
  await summary(page, "Lines of <img src=x onerror=alert(1)>\ufffd");
  await page.goto(`${server.base}comparison-diff?leftQuery=shop.cpu&rightQuery=shop.cpu&lines=price`);
  await page.waitForSelector(TABLE);
  assert.ok(await page.$eval(".lines", (lines) => (lines as HTMLElement).hidden));
  await closeCleanly(opened);
});

test("the lines of an opened pprof file are those of the server", async () => {
  const path = join(files, "shop.pb");
  writeFileSync(path, pprof(SAMPLES, FROM_MS, 10_000, SAMPLE_NS, "/app/models/cart.rb"));
  const opened = await open(browser, `${server.base}adhoc`);
  const { page } = opened;
  const input = await page.waitForSelector(".adhoc-drop input") as ElementHandle<HTMLInputElement>;

  await input.uploadFile(path);
  await page.waitForSelector(TABLE);
  await page.focus(TABLE);
  await page.keyboard.press("Home");
  await page.keyboard.press("l");
  assert.deepEqual(await rows(page), PRICE);
  await waitForParameter(page, "lines", "price");
  await closeCleanly(opened);
});

test("the sum of the lines is the value of the function", async () => {
  const values = pprofParsed(pprof(SAMPLES, FROM_MS, 10_000, SAMPLE_NS, "a.rb")).values[0]!;
  const { signal } = new AbortController();

  for (const [name, self, total] of [["price", 110, 120], ["main", 0, 120], ["total", 0, 50], ["tax", 10, 10], ["gone", 0, 0]] as const) {
    const lines = await values.lines!(name, "a.rb", signal);
    assert.deepEqual([lines.self / 1e6, lines.total / 1e6, lines.all / 1e6], [self, total, 120]);
    assert.equal(lines.rows.reduce((sum, row) => sum + row.self, 0), lines.self);
  }
});

test("the text of a local file is shown beside the lines, and hostile text does no harm", async () => {
  const text = Array.from({ length: 60 }, (_, at) => `  call_${at + 1}`);
  const file = join(files, "models/cart.rb");
  text[11] = "\tprice = <img src=x onerror=alert(1)>\u202e </script>";
  mkdirSync(join(files, "models"));
  writeFileSync(file, text.join("\n"));
  utimesSync(file, FROM_MS / 1000 - 7200, FROM_MS / 1000 - 7200);
  const own = await Server.start("--source", files);
  await pushShop(own);
  const opened = await open(browser, `${own.base}?query=shop.cpu&lines=price`);
  const { page } = opened;

  await page.waitForSelector(".lines-text");
  await summary(page, "The text is from the server\u2019s file models/cart.rb.");
  const shown = await rows(page);
  // The lines of "price" are 12 and 14. Up to four lines before and after them are shown.
  assert.deepEqual(shown.map((row) => row.split(" ")[0]), ["unknown", ...Array.from({ length: 10 }, (_, at) => String(at + 9))]);
  assert.equal(shown[4], "12 80.0 ms 66.7 % 80.0 ms 66.7 % price = <img src=x onerror=alert(1)>\ufffd </script>");
  assert.equal(shown[5], "13 call_13");
  assert.equal(await page.$eval(".lines-text code", (code) => getComputedStyle(code.parentElement!).whiteSpace), "pre");
  assert.equal(await page.$(".lines img, .lines-moved"), null);
  await accessibleInBothThemes(page);
  utimesSync(file, new Date(), new Date());
  // A refresh keeps the scroll position, and announces nothing new.
  await page.setViewport({ width: 1400, height: 300 });
  await page.$eval(".lines-table", (table) => { table.scrollTop = 40; });
  await page.$eval(".flame-unseen[aria-live]", (announcer) => { announcer.textContent = ""; });
  await clickText(page, "button", "\u21bb");
  await summary(page, "Its lines may have moved.");
  assert.equal(await page.$eval(".lines-table", (table) => table.scrollTop), 40);
  assert.equal(await page.$eval(".flame-unseen[aria-live]", (announcer) => announcer.textContent), "");
  await page.goto(`${own.base}?query=shop.cpu&lines=main`);
  await page.waitForSelector(".lines-text");
  await page.setViewport({ width: 400, height: 900 });
  await page.waitForFunction(() => document.documentElement.scrollWidth <= innerWidth);
  rmSync(file);
  await page.reload();
  await summary(page, "contain no readable file with this path.");
  await page.waitForSelector(".lines tbody tr");
  assert.equal(await page.$(".lines-text"), null);
  await closeCleanly(opened);
});

test("lines that are far from each other have a gap between them", () => {
  const source = { file: "a.rb", modifiedMs: 0, isNewer: false, firstLine: 2, lines: Array.from({ length: 40 }, (_, at) => `l${at + 2}`) };
  const values = { unit: "nanoseconds", all: 2, self: 2, total: 2, rows: [5, 30, 50].map((line) => ({ line, self: 1, total: 1 })) };
  const shown = shownLines({ ...values, source });

  assert.deepEqual(shown.map(({ line }) => line), [2, 3, 4, 5, 6, 7, 8, 9, ...Array.from({ length: 9 }, (_, at) => at + 26), 50]);
  assert.deepEqual(shown.filter(({ skipped }) => skipped > 0).map(({ line, skipped }) => [line, skipped]), [[26, 16], [50, 15]]);
  assert.deepEqual([shown[0]!.text, shown[0]!.row, shown.at(-1)!.text], ["l2", null, null]);
  assert.deepEqual(shownLines(values).map(({ line, skipped }) => [line, skipped]), [[5, 0], [30, 0], [50, 0]]);
});
