/** Tests of the views Compare and Diff in a browser. */
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import type { Browser, Page } from "puppeteer-core";
import { accessibleInBothThemes } from "./axe.ts";
import { closeCleanly, open, startBrowser } from "./browser.ts";
import { reloadWithFastLive, waitForParameter } from "./wait.ts";
import { Proxy } from "./proxy.ts";
import { Server } from "./server.ts";
import { rowsOf, waitForPageText, textOf } from "./content.ts";

const now = Math.floor(Date.now() / 1000) * 1000;
const SCALE = ".flame-picks label:first-child select";
const HOSTILE = "<svg onload=alert(1)>\u202e";
let server: Server, browser: Browser;

before(async () => {
  server = await Server.start();
  browser = await startBrowser();
  await server.pushFolded("old.cpu", `main;work 200\nmain;gone 100\nmain;${HOSTILE} 100`, now - 600_000);
  await server.pushFolded("new.cpu", "main;work 500\nmain;fresh 300", now - 60_000);
});

after(async () => {
  await browser.close();
});

const sides = (more: Record<string, string> = {}): string => new URLSearchParams({
  leftQuery: "old.cpu", rightQuery: "new.cpu", leftFrom: "now-1h", leftUntil: "now", rightFrom: "now-1h", rightUntil: "now", ...more,
}).toString();

const sums = async (page: Page): Promise<string[]> => {
  await page.waitForFunction(() => Array.from(document.querySelectorAll(".side-sum")).every((sum) => sum.textContent !== ""));
  return await page.$$eval(".side-sum", (all) => all.map((sum) => sum.textContent));
};

test("Compare shows the totals of both sides", async () => {
  const opened = await open(browser, `${server.base}comparison?${sides()}`);

  assert.deepEqual(await sums(opened.page), ["4.00 s CPU", "8.00 s CPU"]);
  await closeCleanly(opened);
});

test("links of span processors open with times in seconds and milliseconds, and use the common range by default", async () => {
  const s = now / 1000;

  for (const unit of [1, 1000])
    for (const own of [{ leftFrom: String((s - 700) * unit), leftUntil: String((s - 300) * unit), rightFrom: String((s - 300) * unit), rightUntil: String(s * unit) }, {}]) {
      const query = new URLSearchParams({
        query: "old.cpu", from: String((s - 3600) * unit), until: String(s * unit), rightQuery: "new.cpu", ...own,
      });
      const opened = await open(browser, `${server.base}comparison?${query.toString()}`);
      assert.deepEqual(await sums(opened.page), ["4.00 s CPU", "8.00 s CPU"]);
      await closeCleanly(opened);
    }
});

test("a search applies to both sides", async () => {
  const opened = await open(browser, `${server.base}comparison?${sides()}`);
  const { page } = opened;

  await sums(page);
  await page.type(".left input[type=search]", "work");
  await page.waitForFunction(() => document.querySelector<HTMLInputElement>(".right input[type=search]")?.value === "work");
  assert.equal(new URL(page.url()).searchParams.get("search"), "work");
  await closeCleanly(opened);
});

test("a zoom applies to both sides and survives a reload", async () => {
  const opened = await open(browser, `${server.base}comparison?${sides()}`);
  const { page } = opened;
  const zoomed = async (): Promise<void> => {
    await page.waitForFunction(() => Array.from(document.querySelectorAll(".comparison-side")).every((side) => side.querySelector(".flame-crumbs")?.textContent.includes("work")));
  };

  await sums(page);
  // Each side has two canvases. That for the callers of a sandwich is hidden.
  await page.waitForFunction(() => Array.from(document.querySelectorAll(".comparison-side.left canvas")).some((each) => each.getBoundingClientRect().height > 0));
  const boxes = await Promise.all((await page.$$(".comparison-side.left canvas")).map(async (each) => await each.boundingBox()));
  const box = boxes.find((each) => each !== null && each.height > 0)!;
  await page.mouse.click(box.x + 10, box.y + 45);
  await page.waitForFunction(() => new URL(location.href).searchParams.get("zoom"));
  await zoomed();
  await page.reload();
  await sums(page);
  await zoomed();
  await closeCleanly(opened);
});

test("sides can be swapped, and the link to Diff keeps their queries", async () => {
  const opened = await open(browser, `${server.base}comparison?${sides()}`);
  const { page } = opened;

  await sums(page);
  await page.click(".tools-row button");
  await page.waitForFunction(() => new URL(location.href).searchParams.get("leftQuery") === "new.cpu");
  assert.deepEqual(await sums(page), ["8.00 s CPU", "4.00 s CPU"]);
  await page.click(".tools-row a");
  await page.waitForFunction(() => location.pathname === "/comparison-diff");
  assert.equal(new URL(page.url()).searchParams.get("rightQuery"), "old.cpu");
  await rowsOf(page, "Largest changes");
  await page.goBack();
  await page.waitForFunction(() => location.pathname === "/comparison");
  assert.deepEqual(await sums(page), ["8.00 s CPU", "4.00 s CPU"]);
  await page.goBack();
  await page.waitForFunction(() => new URL(location.href).searchParams.get("leftQuery") === "old.cpu");
  await closeCleanly(opened);
});

test("Diff shows exact differences of values and of shares", async () => {
  const opened = await open(browser, `${server.base}comparison-diff?${sides({ scale: "values" })}`);
  const { page } = opened;
  const changes = async (): Promise<Record<string, string[]>> =>
    Object.fromEntries((await rowsOf(page, "Largest changes")).map((row) => [row[0]!.slice(0, 5), [row[1]!, row[2]!, row[3]!, row[9]!]]));

  assert.deepEqual(await changes(), {
    work: ["2.00 s", "5.00 s", "+3.00 s", "+150.0 %"], fresh: ["0 ns", "3.00 s", "+3.00 s", "new"], gone: ["1.00 s", "0 ns", "\u22121.00 s", "gone"],
    "<svg ": ["1.00 s", "0 ns", "\u22121.00 s", "gone"], main: ["0 ns", "0 ns", "same", "same"],
  });
  assert.match(await textOf(page, ".summary"), /CPU: 4\.00 s in 1 profile \u2192 8\.00 s in 1 profile, \+100\.0 %/);
  await page.select(SCALE, "shares");
  // 200 of 400 and 500 of 800 samples may be equal shares that differ by chance.
  const shares = await changes();
  assert.deepEqual(shares["work"], ["50.0 %", "62.5 %", "noise", "noise"]);
  assert.deepEqual(shares["fresh"], ["0.0 %", "37.5 %", "+37.50 pp", "new"]);
  assert.equal(new URL(page.url()).searchParams.get("scale"), "shares");
  await closeCleanly(opened);
});

test("Diff shows the samples of both sides and marks few samples", async () => {
  const opened = await open(browser, `${server.base}comparison-diff?${sides({ shown: "both" })}`);
  const { page } = opened;
  const samples = async (): Promise<Record<string, string[]>> =>
    Object.fromEntries((await rowsOf(page, "Largest changes")).map((row) => [row[0]!.slice(0, 5), [row[4]!, row[8]!]]));
  const expected = {
    work: ["200 \u2192 500", "200 \u2192 500"], fresh: ["0 \u2192 300", "0 \u2192 300"], gone: ["100 \u2192 0", "100 \u2192 0"],
    "<svg ": ["100 \u2192 0", "100 \u2192 0"], main: ["0 \u2192 0few", "400 \u2192 800"],
  };

  assert.deepEqual(await samples(), expected);
  // With the scale "values", the sample counts are the same as with shares.
  await page.select(SCALE, "values");
  assert.deepEqual(await samples(), expected);
  assert.deepEqual(await page.$$eval(".flame-rows [role='row']", (rows) => rows.map((row) => [row.children[0]!.textContent.slice(0, 4), row.children[5]!.textContent])
    .sort()), [["<svg", "100 \u2192 0"], ["fres", "0 \u2192 300"], ["gone", "100 \u2192 0"], ["main", "400 \u2192 800"], ["work", "200 \u2192 500"]]);
  await closeCleanly(opened);
});

test("an empty side is explained, and its suggestions change only this side", async () => {
  const opened = await open(browser, `${server.base}comparison?${sides({ rightFrom: "now-3h", rightUntil: "now-2h" })}`);
  const { page } = opened;

  await waitForPageText(page, "No data from");
  await page.click(".comparison-side.right .empty button");
  await page.waitForFunction(() => document.querySelectorAll(".side-sum")[1]?.textContent === "8.00 s CPU");
  assert.equal(new URL(page.url()).searchParams.get("leftFrom"), "now-1h");
  await page.goto(`${server.base}comparison-diff?${sides({ leftQuery: "odl.cpu" })}`);
  await waitForPageText(page, "No application named \u201codl\u201d");
  await page.goto(`${server.base}comparison-diff?${sides({ leftQuery: "old.cpu{" })}`);
  await waitForPageText(page, "unexpected end of input");
  await closeCleanly(opened);
});

/** Types a query into the field of a side and runs it. */
async function run(page: Page, label: string, query: string): Promise<void> {
  await page.focus(`input[aria-label="Query, ${label}"]`);
  await page.$eval(`input[aria-label="Query, ${label}"]`, (field) => { field.select(); });
  await page.keyboard.type(query);
  await page.keyboard.press("Enter");
}

test("an error of Diff names the side and keeps the fields", async () => {
  const opened = await open(browser, `${server.base}comparison-diff?${sides()}`);
  const { page } = opened;
  const requests: string[] = [];
  const invalidFields = async (): Promise<(string | null)[]> => await page.$$eval(".side .query", (all) => all.map((each) => each.getAttribute("aria-invalid")));

  page.on("request", (request) => { requests.push(new URL(request.url()).pathname); });
  await rowsOf(page, "Largest changes");
  await run(page, "comparison", "{a=");
  await waitForPageText(page, "Comparison: 1:4: parse error");
  assert.deepEqual(await invalidFields(), [null, "true"]);
  assert.equal(await page.$(".shell .query[aria-invalid]"), null);
  assert.ok(!requests.includes("/api/v1/gaps"), "the error names the side, so no request for a single side is needed");
  await run(page, "comparison", "new.cpu");
  await rowsOf(page, "Largest changes");
  await page.goto(`${server.base}comparison-diff?${sides({ leftFrom: "now", leftUntil: "now-1h" })}`);
  await waitForPageText(page, "Baseline: query start time is after end time");
  assert.deepEqual(await page.$$eval(".side .query", (all) => all.map((each) => (each as HTMLInputElement).value)), ["old.cpu", "new.cpu"]);
  await page.goto(`${server.base}comparison-diff?${sides({ leftQuery: "memory:alloc_space:bytes:space:bytes{}", rightQuery: "process_cpu:cpu:nanoseconds:cpu:nanoseconds{}" })}`);
  await waitForPageText(page, "the two queries of a comparison must have the same profile type");
  assert.deepEqual(await invalidFields(), [null, null]);
  await run(page, "baseline", "process_cpu:cpu:nanoseconds:cpu:nanoseconds{}");
  await rowsOf(page, "Largest changes");
  await closeCleanly(opened);
});

test("Compare and Diff retry after a broken connection", async () => {
  let cut = true;
  const proxy = await Proxy.start(server.base, (path) => cut && /api.v1.(profile|diff|status)/.test(path) ? Infinity : 0);
  const opened = await open(browser, `${proxy.base}comparison?${sides()}`);
  const { page } = opened;

  await page.waitForFunction(() => document.querySelectorAll(".stacks .fault").length === 2);
  await waitForPageText(page, "Retrying\u2026");
  cut = false;
  assert.deepEqual(await sums(page), ["4.00 s CPU", "8.00 s CPU"]);
  cut = true;
  await page.click(".tools-row a");
  await page.waitForSelector(".view-comparison-diff .fault.notice");
  assert.equal((await page.$$(".side .query")).length, 2);
  cut = false;
  await rowsOf(page, "Largest changes");
  await closeCleanly(opened);
  await proxy.stop();
});

test("Compare is never live, and refreshing a side adds no history entry", async () => {
  const opened = await open(browser, `${server.base}comparison?${sides({ live: "1" })}`);
  const { page } = opened;

  await reloadWithFastLive(page);
  await sums(page);
  assert.equal(await page.evaluate(() => (window as unknown as { ticks: number }).ticks), 0);
  await waitForParameter(page, "live", null);
  const steps = await page.evaluate(() => history.length);
  await page.type('input[aria-label="Query, comparison"]', "x");
  const answered = page.waitForResponse((answer) => answer.url().includes("/profile"));
  await page.click('.comparison-side.left [aria-label="Refresh"]');
  await answered;
  assert.equal(await page.$eval('input[aria-label="Query, comparison"]', (field) => field.value), "new.cpux");
  assert.equal(await page.evaluate(() => history.length), steps);
  await closeCleanly(opened);
});

test("abandoned views are garbage collected, even with an open menu", async () => {
  const opened = await open(browser, `${server.base}comparison?${sides()}`);
  const { page } = opened;
  const client = await page.createCDPSession();
  // Do not use waitForSelector(): puppeteer keeps references to the elements that it
  // finds, so they are not garbage collected.
  const openLink = async (drawnAs: string, link: string): Promise<void> => {
    await page.waitForFunction((selector) => document.querySelector(selector) !== null
      && document.querySelector("[aria-busy]")?.getAttribute("aria-busy") === "false", {}, drawnAs);
    await page.evaluate((selector) => {
      const global = window as unknown as { views?: WeakRef<Element>[] };
      (global.views ??= []).push(new WeakRef(document.querySelector(".view")!));
      document.querySelector<HTMLElement>(".side .menu-button")?.click();
      document.querySelector<HTMLElement>(selector)!.click();
    }, link);
  };

  await openLink(".comparison-side.right canvas", ".tools-row a");
  await openLink(".view-comparison-diff canvas", ".shell nav a:nth-child(1)");
  await openLink(".services tbody tr", ".shell nav a:nth-child(6)");
  await page.waitForFunction(() => document.querySelector(".comparison-side.right canvas") !== null);
  await page.mouse.click(2, 2);
  await client.send("HeapProfiler.collectGarbage");
  assert.deepEqual(await page.evaluate(() => (window as unknown as { views: WeakRef<Element>[] }).views.map((each) => each.deref()?.className ?? "")), ["", "", ""]);
  await closeCleanly(opened);
});

test("a query can be typed and run on one side by keyboard alone", async () => {
  const opened = await open(browser, `${server.base}comparison?${sides()}`);
  const { page } = opened;

  await sums(page);
  await page.focus('input[aria-label="Query, comparison"]');
  await page.keyboard.down("Control");
  await page.keyboard.press("a");
  await page.keyboard.up("Control");
  await page.keyboard.type("old.cpu");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => new URL(location.href).searchParams.get("rightQuery") === "old.cpu");
  assert.deepEqual(await sums(page), ["4.00 s CPU", "4.00 s CPU"]);
  await closeCleanly(opened);
});

test("axe finds no serious problems in Compare and Diff", async () => {
  const opened = await open(browser, `${server.base}comparison?${sides()}`);

  await sums(opened.page);
  await accessibleInBothThemes(opened.page);
  await opened.page.goto(`${server.base}comparison-diff?${sides()}`);
  await rowsOf(opened.page, "Largest changes");
  await accessibleInBothThemes(opened.page);
  await closeCleanly(opened);
});
