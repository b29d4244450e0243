import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import type { Browser, Page } from "puppeteer-core";
import { framesOf } from "../src/labels/mini.ts";
import { commonTrunk, hasCommon, trunkOf } from "../src/labels/trunk.ts";
import { ordered, readOrder, toggled, writeOrder } from "../src/labels/order.ts";
import { closeCleanly, open, startBrowser } from "./browser.ts";
import { waitForGraph, parameter, clickText, reloadWithFastLive, text, waitForTicks, waitForText, waitForParameter } from "./wait.ts";
import { Server } from "./server.ts";

const VALUES = 60;

let server: Server;
let browser: Browser;

before(async () => {
  server = await Server.start();
  browser = await startBrowser();
  for (const [samples, ageMs] of [[100, 30_000], [300, 20_000], [200, 10_000]] as const)
    await server.pushFolded("shop.cpu{host=web-2}", `main;db ${samples}`, Date.now() - ageMs);
  await server.pushFolded("shop.cpu{host=web-10}", "main;db 250");
  await server.pushFolded("shop.cpu", "main;idle 50");
  for (let number = 0; number < VALUES; number++)
    await server.pushFolded(`many.cpu{pod=pod-${number}}`, `main;work ${number + 1}`);
});

const idle = async (page: Page): Promise<void> => {
  await page.waitForFunction(() => document.getElementById("view")?.getAttribute("aria-busy") === "false");
};

after(async () => {
  await browser.close();
});

test("each value has total, share, average and deviation, and a mark for few profiles", async () => {
  const opened = await open(browser, `${server.base}labels?query=shop.cpu&label=host`);
  const { page } = opened;

  await page.waitForSelector(".values");
  const rows = await page.$$eval(".values tbody tr", (all) => all.map((row) => [...row.children].map((cell) => (cell as HTMLElement).innerText.trim())));
  assert.deepEqual(rows, [
    ["web-2", "6.00 s", "66.7 %", "2.00 s", "\u00b1 1.00 s", "3 (few)"],
    ["web-10", "2.50 s", "27.8 %", "2.50 s", "\u2013", "1 (few)"],
    ["(no value)", "500 ms", "5.6 %", "500 ms", "\u2013", "1 (few)"],
  ]);
  await page.click(".values thead th:nth-child(4) button");
  await waitForParameter(page, "order", "average");
  assert.equal(await text(page, ".values tbody th"), "web-10");
  await closeCleanly(opened);
});

test("values and the type picker follow the query's type", async () => {
  const query = encodeURIComponent('memory:alloc_space:bytes::{service_name="mem"}');
  await server.pushFolded("mem.alloc_space{host=web-1}", "main;db 2048");
  const opened = await open(browser, `${server.base}labels?query=${query}&label=host`);
  const { page } = opened;

  await page.waitForSelector(".values");
  assert.equal(await text(page, ".values tbody td"), "2.00 KiB");
  assert.equal(await page.$eval(".pick-type", (pick) => (pick as HTMLSelectElement).selectedOptions[0]?.text), "alloc_space (memory)");
  await page.goto(`${server.base}?query=${query}`);
  await waitForText(page, "h1", "mem \u2013 alloc_space (memory)");
  await closeCleanly(opened);
});

test("the graph and the row of a value link to Explore", async () => {
  const opened = await open(browser, `${server.base}labels?query=shop.cpu&label=host`);
  const { page } = opened;

  await page.waitForSelector("[data-drawn]");
  await page.click(".card");
  await waitForGraph(page);
  assert.equal(new URL(page.url()).pathname, "/");
  assert.equal(parameter(page, "query"), 'shop.cpu{host="web-2"}');
  await waitForText(page, ".figures", "6.00 s in 3 profiles");
  await page.goBack();
  await page.waitForSelector(".values");
  await page.click(".values tbody tr:nth-child(3) a");
  await waitForText(page, ".figures", "500 ms in 1 profile");
  assert.equal(parameter(page, "query"), 'shop.cpu{host=""}');
  await closeCleanly(opened);
});

test("graphs are loaded when they become visible, and more values on request", async () => {
  const opened = await open(browser, `${server.base}labels?query=many.cpu&label=pod`);
  const { page } = opened;
  const drawnCount = async (): Promise<number> => (await page.$$("[data-drawn]")).length;

  await page.waitForSelector("[data-drawn]");
  await idle(page);
  assert.ok(await drawnCount() < 25, `${await drawnCount()} graphs are drawn`);
  assert.equal((await page.$$(".card")).length, 50);
  await page.$eval(".card:last-child", (card) => { card.scrollIntoView(); });
  await page.waitForSelector(".card:last-child [data-drawn]");
  await clickText(page, "button", "More values");
  await page.waitForFunction((count: number) => document.querySelectorAll(".card").length === count, {}, VALUES);
  await closeCleanly(opened);
});

test("the order applies to all values, and sorting loads no graph again", async () => {
  const opened = await open(browser, `${server.base}labels?query=many.cpu&label=pod&order=value-up`);
  const { page } = opened;
  const requests: string[] = [];
  const cards = (): Promise<(string | null)[]> => page.$$eval(".card strong", (all) => all.map((each) => each.textContent));

  await page.waitForSelector(".card:first-child [data-drawn]");
  // pod-0 has the smallest value, so an order by value would not show it.
  assert.deepEqual((await cards()).slice(0, 3), ["pod-0", "pod-1", "pod-2"]);
  await clickText(page, "button", "More values");
  assert.equal((await cards()).length, VALUES);
  await idle(page);
  page.on("request", (request) => { requests.push(...new URL(request.url()).pathname.endsWith("/profile") ? [request.url()] : []); });
  await server.pushFolded("many.cpu{pod=pod-0}", "main;work 1000");
  const drawnAgain = page.waitForResponse((answer) => new URL(answer.url()).pathname.endsWith("/profile"));
  await page.click('[aria-label="Refresh"]');
  await waitForText(page, ".card:first-child", "10.0 s");
  await drawnAgain;
  await idle(page);
  assert.equal((await cards()).length, VALUES, "the shown cards stay");
  assert.deepEqual(requests.map((each) => new URL(each).searchParams.get("query")), ['many.cpu{pod="pod-0"}']);
  await clickText(page, ".values thead button", "Value");
  assert.deepEqual((await cards()).slice(0, 2), [`pod-${VALUES - 1}`, `pod-${VALUES - 2}`]);
  await closeCleanly(opened);
});

test("a refresh shows new values", async () => {
  const opened = await open(browser, `${server.base}labels?query=later.cpu&label=host`);
  const { page } = opened;

  await waitForText(page, ".empty h2", "No application named \u201clater\u201d");
  await server.pushFolded("later.cpu{host=web-1}", "main;db 100");
  await page.click('[aria-label="Refresh"]');
  await waitForText(page, ".values tbody th", "web-1");
  await page.waitForSelector(".card [data-drawn]");
  await closeCleanly(opened);
});

test("live updates keep the focus on a row, a header, a card or the button", async () => {
  for (let number = 0; number < VALUES; number++)
    await server.pushFolded(`live.cpu{pod=pod-${number}}`, `main;work ${number + 1}`);
  const opened = await open(browser, `${server.base}labels?query=live.cpu&label=pod&live=1`);
  const { page } = opened;
  const row = ".values tbody tr:nth-child(40) a", region = ".table-scroll";
  const focused = (): Promise<string> => page.evaluate(() => `${document.activeElement?.className ?? ""} ${document.activeElement?.textContent ?? ""}`);
  // Finds and focuses the element in one step, since a refresh between two steps could
  // replace it.
  const focus = async (selector: string): Promise<void> => {
    await page.evaluate((where) => { document.querySelector<HTMLElement>(where)!.focus(); }, selector);
  };
  const scrolled = (): Promise<number> => page.$eval(region, (each) => each.scrollTop);
  let pushed = 0;
  const changed = async (): Promise<void> => {
    await server.pushFolded(`live.cpu{pod=pod-${pushed}}`, `main;work ${1000 * (pushed + 1)}`);
    await waitForText(page, ".values tbody tr:first-child", `pod-${pushed++}`);
    await waitForTicks(page, 1);
  };

  await reloadWithFastLive(page);
  await page.waitForSelector(row);
  await focus(row);
  const before = await scrolled();
  assert.ok(before > 0, "the table is scrolled");
  assert.equal(await focused(), " pod-20");
  await changed();
  assert.equal(await focused(), " pod-20");
  assert.equal(await scrolled(), before);
  for (const [selector, expected] of [
    [".values thead th:nth-child(4) button", / Average$/], [".card:nth-child(3)", /^card pod-59/], ["#view button:not(.values *)", / More values$/],
  ] as const) {
    await focus(selector);
    assert.match(await focused(), expected);
    await changed();
    assert.match(await focused(), expected);
  }
  await focus(".values thead th:nth-child(4) button");
  await page.keyboard.press("Enter");
  await waitForParameter(page, "order", "average");
  assert.match(await focused(), / Average/);
  await closeCleanly(opened);
});

test("two values are ticked and compared with three clicks from the landing page", async () => {
  const regions = await Server.start();
  for (const [region, samples] of [["eu", 100], ["us", 300], ["asia", 50]] as const)
    for (const pod of ["a", "b"])
      await regions.pushFolded(`web.cpu{region=${region},pod=${region}-${pod}}`, `main;work ${samples}\nmain;${region} 20`);
  const opened = await open(browser, regions.base);
  const { page } = opened;

  await waitForGraph(page);
  await clickText(page, "nav a", "Labels");
  await clickText(page, ".label-names a", "region");
  await waitForText(page, ".pair", "Baseline: eu");
  await waitForText(page, ".pair", "Comparison: us");
  await clickText(page, ".pair a", "Diff");
  await waitForText(page, ".view-comparison-diff .summary", "2.40 s in 2 profiles");
  assert.equal(parameter(page, "leftQuery"), '{service_name="web",region="eu"}');
  assert.equal(parameter(page, "rightQuery"), '{service_name="web",region="us"}');
  await page.goBack();
  await page.waitForSelector('input[aria-label="Compare value asia"]');
  await page.click('input[aria-label="Compare value asia"]');
  await waitForText(page, ".pair", "Tick another value, or click Diff in its row, to compare it with asia");
  await page.click('input[aria-label="Compare value eu"]');
  await page.reload();
  await waitForText(page, ".pair", "Comparison: eu");
  await clickText(page, ".pair a", "Compare");
  await page.waitForSelector(".comparison-side.right canvas");
  assert.equal(parameter(page, "leftQuery"), '{service_name="web",region="asia"}');
  await closeCleanly(opened);
});

test("values are filtered by a part of their name, and the filter is in the address", async () => {
  const opened = await open(browser, `${server.base}labels?query=many.cpu&label=pod`);
  const { page } = opened;

  await page.waitForSelector(".values");
  await page.type('input[aria-label="Filter values"]', "POD-5");
  await waitForText(page, ".filter", `11 of ${VALUES}`);
  await waitForParameter(page, "filter", "POD-5");
  assert.equal((await page.$$(".values tbody tr")).length, 11);
  assert.equal((await page.$$(".card")).length, 11);
  await page.reload();
  await waitForText(page, ".filter", `11 of ${VALUES}`);
  await page.type('input[aria-label="Filter values"]', "x");
  await waitForText(page, ".filter", "No matching values");
  await closeCleanly(opened);
});

test("a click includes or excludes a value", async () => {
  const opened = await open(browser, `${server.base}labels?query=shop.cpu&label=host`);
  const { page } = opened;
  const rows = async (count: number): Promise<void> => {
    await page.waitForFunction((wanted: number) => document.querySelectorAll(".values tbody tr").length === wanted, {}, count);
  };

  await rows(3);
  await page.click('a[aria-label="Exclude host web-2"]');
  await rows(2);
  assert.equal(parameter(page, "query"), 'shop.cpu{host!="web-2"}');
  await page.click('a[aria-label="Exclude host (no value)"]');
  await rows(1);
  assert.equal(parameter(page, "query"), 'shop.cpu{host!="web-2",host!=""}');
  await page.click('a[aria-label="Show only host web-10"]');
  await waitForParameter(page, "query", 'shop.cpu{host!="web-2",host!="",host="web-10"}');
  await rows(1);
  await closeCleanly(opened);
});

test("labels are links, and the default is the one with the most values", async () => {
  const opened = await open(browser, `${server.base}labels?query=many.cpu`);
  const { page } = opened;

  await waitForText(page, "h1", "By pod");
  await clickText(page, ".label-names a", "service_name");
  await waitForText(page, "h1", "By service_name");
  assert.equal(parameter(page, "label"), "service_name");
  await page.goBack();
  await waitForText(page, "h1", "By pod");
  await page.goto(`${server.base}labels?query=mony.cpu&label=pod`);
  await waitForText(page, ".empty h2", "No application named \u201cmony\u201d");
  await closeCleanly(opened);
});

test("orders are parsed and written, and numbers in names are sorted by value", () => {
  const value = (name: string, total: number): Parameters<typeof ordered>[0][number] =>
    ({ value: name, total, share: 0, profiles: 1, average: 0, deviation: 0 });
  const values = [value("pod-10", 1), value("pod-9", 3), value("pod-2", 2)];

  assert.deepEqual(ordered(values, readOrder("value-up")).map((each) => each.value), ["pod-2", "pod-9", "pod-10"]);
  assert.deepEqual(ordered(values, readOrder("nonsense")).map((each) => each.total), [3, 2, 1]);
  assert.equal(writeOrder(toggled(readOrder(undefined), "total")), "total-up");
  assert.equal(writeOrder(toggled(readOrder("total-up"), "total")), undefined);
});

const COMMON = "puma;rack;sinatra";

test("graphs begin at the last common frame, and each value has a timeline", async () => {
  for (const [route, samples] of [["cart", 500], ["order", 300]] as const)
    await server.pushFolded(`web.cpu{route=${route}}`, `${COMMON};${route};db ${samples}\n${COMMON};render ${samples / 5}\ngc 3`);
  await server.pushFolded("web.cpu", "gc 2");
  const opened = await open(browser, `${server.base}labels?query=web.cpu&label=route`);
  const { page } = opened;

  await page.waitForFunction(() => document.querySelectorAll("[data-drawn]").length === 3);
  await waitForText(page, ".cards-note", "Flame graphs begin at sinatra: 2 common frames are skipped. Up to 0.83 % of a value is outside of it.");
  assert.equal(await page.$eval(".cards-note", (note) => (note as HTMLElement).title), "puma\nrack\nsinatra");
  const notes = await page.$$eval(".card p", (all) => all.map((each) => each.textContent));
  assert.deepEqual(notes, ["", "", "This flame graph has other frames and begins at its root."]);
  // Three rows of 15 pixels: sinatra, the route or render, and db.
  assert.deepEqual(await page.$$eval(".card .mini", (all) => all.map((each) => (each as HTMLElement).style.height)), ["45px", "45px", "15px"]);
  assert.match(await page.$eval(".card .sr", (each) => each.textContent), /^CPU cores: 0\.603 cores on average/);
  const bars = await page.$$eval(".card .spark", (all) => all.map((each) => {
    const canvas = each as HTMLCanvasElement;
    const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
    let filled = 0;
    for (let at = 3; at < data.length; at += 4)
      filled += data[at]! > 0 ? 1 : 0;
    return filled;
  }));
  assert.ok(bars[0]! > bars[1]! && bars[1]! > bars[2]!, bars.join());
  await closeCleanly(opened);
});

test("the common trunk ends where the values differ", () => {
  const trunk = (path: string, rest = 0): ReturnType<typeof trunkOf> => {
    const name = path.split(";");
    const end = name.length;
    return trunkOf({
      type: "cpu", unit: "nanoseconds", functions: { name: [...name, "other"], file: Array<string>(end + 1).fill(""), line: Array<number>(end + 1).fill(0) },
      parent: Uint32Array.from([0, ...name.map((_, at) => at), 0]), functionOf: Int32Array.from([-1, ...name.map((_, at) => at), end]),
      self: Float64Array.from([...name.map(() => 0), 90, rest]), samples: null, baseSamples: null, baseSelf: null, comparison: null, merged: 0,
    });
  };
  const common = (...trunks: ReturnType<typeof trunkOf>[]): string => commonTrunk(trunks).names.join(";");

  assert.equal(common(trunk("a;b;c"), trunk("a;b;d", 10)), "a;b");
  assert.equal(common(trunk("a;b;c"), trunk("a;b")), "a;b");
  assert.equal(common(trunk("a;b;c"), trunk("a;b", 11)), "");
  assert.equal(common(trunk("a;b"), trunk("x;b")), "");
  assert.equal(common(), "");
  assert.deepEqual(trunk("a;b", 10).shares, [0.9, 0.9]);
  assert.equal(hasCommon(trunk("x"), commonTrunk([trunk("a")]).keys), false);
});

test("a small graph omits narrow frames", () => {
  const tree = {
    type: "cpu", unit: "nanoseconds", functions: { name: ["a", "b", "c", "d"], file: ["", "", "", ""], line: [0, 0, 0, 0] },
    parent: Uint32Array.of(0, 0, 1, 1, 0), functionOf: Int32Array.of(-1, 0, 1, 2, 3), self: Float64Array.of(0, 0, 600, 400, 1), samples: null, baseSamples: null,
    baseSelf: null,
    comparison: null,
    merged: 0,
  };

  assert.deepEqual(framesOf(tree, 100.1).map(({ name, row, left, width }) => [name, row, Math.round(left), Math.round(width)]),
    [["a", 0, 0, 100], ["b", 1, 0, 60], ["c", 1, 60, 40]]);
  assert.deepEqual(framesOf(tree, 100, 3).map(({ name, row, left, width }) => [name, row, left, width]), [["c", 0, 0, 100]]);
});
