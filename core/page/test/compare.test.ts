/** Two selections side by side and as a difference, in a browser. */
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import type { Browser, Page } from "puppeteer-core";
import { accessibleInBothThemes } from "./axe.ts";
import { fine, open, startBrowser } from "./browser.ts";
import { quickly, untilParameter } from "./look.ts";
import { Proxy } from "./proxy.ts";
import { Server } from "./server.ts";
import { rowsOf, sees, textOf } from "./seen.ts";

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

test("two queries stand side by side with their sums", async () => {
  const opened = await open(browser, `${server.base}comparison?${sides()}`);

  assert.deepEqual(await sums(opened.page), ["4.00 s CPU", "8.00 s CPU"]);
  await fine(opened);
});

test("the addresses of span processors open, in seconds and milliseconds, and a whole range fills what is missing", async () => {
  const s = now / 1000;

  for (const unit of [1, 1000])
    for (const own of [{ leftFrom: String((s - 700) * unit), leftUntil: String((s - 300) * unit), rightFrom: String((s - 300) * unit), rightUntil: String(s * unit) }, {}]) {
      const query = new URLSearchParams({
        query: "old.cpu", from: String((s - 3600) * unit), until: String(s * unit), rightQuery: "new.cpu", ...own,
      });
      const opened = await open(browser, `${server.base}comparison?${query.toString()}`);
      assert.deepEqual(await sums(opened.page), ["4.00 s CPU", "8.00 s CPU"]);
      await fine(opened);
    }
});

test("a search on one side is one on the other, too", async () => {
  const opened = await open(browser, `${server.base}comparison?${sides()}`);
  const { page } = opened;

  await sums(page);
  await page.type(".left input[type=search]", "work");
  await page.waitForFunction(() => document.querySelector<HTMLInputElement>(".right input[type=search]")?.value === "work");
  assert.equal(new URL(page.url()).searchParams.get("search"), "work");
  await fine(opened);
});

test("a frame that is zoomed on one side is so on the other, and after a reload", async () => {
  const opened = await open(browser, `${server.base}comparison?${sides()}`);
  const { page } = opened;
  const zoomed = async (): Promise<void> => {
    await page.waitForFunction(() => Array.from(document.querySelectorAll(".comparison-side")).every((side) => side.querySelector(".flame-crumbs")?.textContent.includes("work")));
  };

  await sums(page);
  // A sandwich has a second canvas, which is hidden without one.
  await page.waitForFunction(() => Array.from(document.querySelectorAll(".comparison-side.left canvas")).some((each) => each.getBoundingClientRect().height > 0));
  const boxes = await Promise.all((await page.$$(".comparison-side.left canvas")).map(async (each) => await each.boundingBox()));
  const box = boxes.find((each) => each !== null && each.height > 0)!;
  await page.mouse.click(box.x + 10, box.y + 45);
  await page.waitForFunction(() => new URL(location.href).searchParams.get("zoom"));
  await zoomed();
  await page.reload();
  await sums(page);
  await zoomed();
  await fine(opened);
});

test("sides are swapped, and lead to the difference and back with their queries", async () => {
  const opened = await open(browser, `${server.base}comparison?${sides()}`);
  const { page } = opened;

  await sums(page);
  await page.click(".tools-row button");
  await page.waitForFunction(() => new URL(location.href).searchParams.get("leftQuery") === "new.cpu");
  assert.deepEqual(await sums(page), ["8.00 s CPU", "4.00 s CPU"]);
  await page.click(".tools-row a");
  await page.waitForFunction(() => location.pathname === "/comparison-diff");
  assert.equal(new URL(page.url()).searchParams.get("rightQuery"), "old.cpu");
  await rowsOf(page, "What changed most");
  await page.goBack();
  await page.waitForFunction(() => location.pathname === "/comparison");
  assert.deepEqual(await sums(page), ["8.00 s CPU", "4.00 s CPU"]);
  await page.goBack();
  await page.waitForFunction(() => new URL(location.href).searchParams.get("leftQuery") === "old.cpu");
  await fine(opened);
});

test("a difference is of values, or of shares, and exact", async () => {
  const opened = await open(browser, `${server.base}comparison-diff?${sides({ scale: "values" })}`);
  const { page } = opened;
  const changes = async (): Promise<Record<string, string[]>> =>
    Object.fromEntries((await rowsOf(page, "What changed most")).map((row) => [row[0]!.slice(0, 5), [row[1]!, row[2]!, row[3]!, row[9]!]]));

  assert.deepEqual(await changes(), {
    work: ["2.00 s", "5.00 s", "+3.00 s", "+150.0 %"], fresh: ["0 ns", "3.00 s", "+3.00 s", "new"], gone: ["1.00 s", "0 ns", "\u22121.00 s", "gone"],
    "<svg ": ["1.00 s", "0 ns", "\u22121.00 s", "gone"], main: ["0 ns", "0 ns", "same", "same"],
  });
  assert.match(await textOf(page, ".summary"), /CPU: 4\.00 s in 1 profile, then 8\.00 s in 1 profile, \+100\.0 %/);
  await page.select(SCALE, "shares");
  // 200 of 400 samples and 500 of 800 can be the same share.
  const shares = await changes();
  assert.deepEqual(shares["work"], ["50.0 %", "62.5 %", "noise", "noise"]);
  assert.deepEqual(shares["fresh"], ["0.0 %", "37.5 %", "+37.50 points", "new"]);
  assert.equal(new URL(page.url()).searchParams.get("scale"), "shares");
  await fine(opened);
});

test("beside a difference stand the samples of both sides, and few are no ranking", async () => {
  const opened = await open(browser, `${server.base}comparison-diff?${sides({ shown: "both" })}`);
  const { page } = opened;
  const samples = async (): Promise<Record<string, string[]>> =>
    Object.fromEntries((await rowsOf(page, "What changed most")).map((row) => [row[0]!.slice(0, 5), [row[4]!, row[8]!]]));
  const expected = {
    work: ["200 \u2192 500", "200 \u2192 500"], fresh: ["0 \u2192 300", "0 \u2192 300"], gone: ["100 \u2192 0", "100 \u2192 0"],
    "<svg ": ["100 \u2192 0", "100 \u2192 0"], main: ["0 \u2192 0few", "400 \u2192 800"],
  };

  assert.deepEqual(await samples(), expected);
  // The shares are scaled; samples are what they are.
  await page.select(SCALE, "values");
  assert.deepEqual(await samples(), expected);
  assert.deepEqual(await page.$$eval(".flame-rows [role='row']", (rows) => rows.map((row) => [row.children[0]!.textContent.slice(0, 4), row.lastElementChild!.textContent])
    .sort()), [["<svg", "100 \u2192 0"], ["fres", "0 \u2192 300"], ["gone", "100 \u2192 0"], ["main", "400 \u2192 800"], ["work", "200 \u2192 500"]]);
  await fine(opened);
});

test("a side without data says why, and offers a way out that is its own", async () => {
  const opened = await open(browser, `${server.base}comparison?${sides({ rightFrom: "now-3h", rightUntil: "now-2h" })}`);
  const { page } = opened;

  await sees(page, "There is no data from");
  await page.click(".comparison-side.right .empty button");
  await page.waitForFunction(() => document.querySelectorAll(".side-sum")[1]?.textContent === "8.00 s CPU");
  assert.equal(new URL(page.url()).searchParams.get("leftFrom"), "now-1h");
  await page.goto(`${server.base}comparison-diff?${sides({ leftQuery: "odl.cpu" })}`);
  await sees(page, "There is no application \u201codl\u201d");
  await page.goto(`${server.base}comparison-diff?${sides({ leftQuery: "old.cpu{" })}`);
  await sees(page, "unexpected end of input");
  await fine(opened);
});

/** What runs on a side, typed over what was there. */
async function run(page: Page, label: string, query: string): Promise<void> {
  await page.focus(`input[aria-label="Query, ${label}"]`);
  await page.$eval(`input[aria-label="Query, ${label}"]`, (field) => { field.select(); });
  await page.keyboard.type(query);
  await page.keyboard.press("Enter");
}

test("a difference that is refused keeps its fields, and tells which side is at fault", async () => {
  const opened = await open(browser, `${server.base}comparison-diff?${sides()}`);
  const { page } = opened;
  const asked: string[] = [];
  const faulty = async (): Promise<(string | null)[]> => await page.$$eval(".side .query", (all) => all.map((each) => each.getAttribute("aria-invalid")));

  page.on("request", (request) => { asked.push(new URL(request.url()).pathname); });
  await rowsOf(page, "What changed most");
  await run(page, "Compared with it", "{a=");
  await sees(page, "Compared with it: 1:4: parse error");
  assert.deepEqual(await faulty(), [null, "true"]);
  assert.equal(await page.$(".shell .query[aria-invalid]"), null);
  assert.ok(!asked.includes("/api/v1/gaps"), "the refusal names the side: neither is asked alone");
  await run(page, "Compared with it", "new.cpu");
  await rowsOf(page, "What changed most");
  await page.goto(`${server.base}comparison-diff?${sides({ leftFrom: "now", leftUntil: "now-1h" })}`);
  await sees(page, "Base: query start time is after end time");
  assert.deepEqual(await page.$$eval(".side .query", (all) => all.map((each) => (each as HTMLInputElement).value)), ["old.cpu", "new.cpu"]);
  await page.goto(`${server.base}comparison-diff?${sides({ leftQuery: "memory:alloc_space:bytes:space:bytes{}", rightQuery: "process_cpu:cpu:nanoseconds:cpu:nanoseconds{}" })}`);
  await sees(page, "both sides of a comparison have one profile type");
  assert.deepEqual(await faulty(), [null, null]);
  await run(page, "Base", "process_cpu:cpu:nanoseconds:cpu:nanoseconds{}");
  await rowsOf(page, "What changed most");
  await fine(opened);
});

test("sides whose connection breaks are asked again, and so is the difference", async () => {
  let cut = true;
  const proxy = await Proxy.start(server.base, (path) => cut && /api.v1.(profile|diff|status)/.test(path) ? Infinity : 0);
  const opened = await open(browser, `${proxy.base}comparison?${sides()}`);
  const { page } = opened;

  await page.waitForFunction(() => document.querySelectorAll(".stacks .fault").length === 2);
  await sees(page, "It is asked again until it answers.");
  cut = false;
  assert.deepEqual(await sums(page), ["4.00 s CPU", "8.00 s CPU"]);
  cut = true;
  await page.click(".tools-row a");
  await page.waitForSelector(".view-comparison-diff .fault.notice");
  assert.equal((await page.$$(".side .query")).length, 2);
  cut = false;
  await rowsOf(page, "What changed most");
  await fine(opened);
  await proxy.stop();
});

test("a comparison is not live, and a side is asked again without another step", async () => {
  const opened = await open(browser, `${server.base}comparison?${sides({ live: "1" })}`);
  const { page } = opened;

  await quickly(page);
  await sums(page);
  assert.equal(await page.evaluate(() => (window as unknown as { ticks: number }).ticks), 0);
  await untilParameter(page, "live", null);
  const steps = await page.evaluate(() => history.length);
  await page.type('input[aria-label="Query, Right"]', "x");
  const answered = page.waitForResponse((answer) => answer.url().includes("/profile"));
  await page.click('.comparison-side.left [aria-label="Look again"]');
  await answered;
  assert.equal(await page.$eval('input[aria-label="Query, Right"]', (field) => field.value), "new.cpux");
  assert.equal(await page.evaluate(() => history.length), steps);
  await fine(opened);
});

test("views that are left are given back, though a menu was open in one", async () => {
  const opened = await open(browser, `${server.base}comparison?${sides()}`);
  const { page } = opened;
  const client = await page.createCDPSession();
  // What puppeteer waited for by a selector it holds.
  const leave = async (drawnAs: string, link: string): Promise<void> => {
    await page.waitForFunction((selector) => document.querySelector(selector) !== null
      && document.querySelector("[aria-busy]")?.getAttribute("aria-busy") === "false", {}, drawnAs);
    await page.evaluate((selector) => {
      const held = window as unknown as { views?: WeakRef<Element>[] };
      (held.views ??= []).push(new WeakRef(document.querySelector(".view")!));
      document.querySelector<HTMLElement>(".side .menu-button")?.click();
      document.querySelector<HTMLElement>(selector)!.click();
    }, link);
  };

  await leave(".comparison-side.right canvas", ".tools-row a");
  await leave(".view-comparison-diff canvas", ".shell nav a:nth-child(1)");
  await leave(".graph canvas", ".shell nav a:nth-child(5)");
  await page.waitForFunction(() => document.querySelector(".comparison-side.right canvas") !== null);
  await page.mouse.click(2, 2);
  await client.send("HeapProfiler.collectGarbage");
  assert.deepEqual(await page.evaluate(() => (window as unknown as { views: WeakRef<Element>[] }).views.map((each) => each.deref()?.className ?? "")), ["", "", ""]);
  await fine(opened);
});

test("a query is typed and run on one side by keyboard alone", async () => {
  const opened = await open(browser, `${server.base}comparison?${sides()}`);
  const { page } = opened;

  await sums(page);
  await page.focus('input[aria-label="Query, Right"]');
  await page.keyboard.down("Control");
  await page.keyboard.press("a");
  await page.keyboard.up("Control");
  await page.keyboard.type("old.cpu");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => new URL(location.href).searchParams.get("rightQuery") === "old.cpu");
  assert.deepEqual(await sums(page), ["4.00 s CPU", "4.00 s CPU"]);
  await fine(opened);
});

test("a comparison and a difference have nothing that axe finds serious", async () => {
  const opened = await open(browser, `${server.base}comparison?${sides()}`);

  await sums(opened.page);
  await accessibleInBothThemes(opened.page);
  await opened.page.goto(`${server.base}comparison-diff?${sides()}`);
  await rowsOf(opened.page, "What changed most");
  await accessibleInBothThemes(opened.page);
  await fine(opened);
});
