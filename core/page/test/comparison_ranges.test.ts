/** Tests of the ranges of a comparison, in a browser. */
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import type { Browser, Page } from "puppeteer-core";
import { accessibleInBothThemes } from "./axe.ts";
import { closeCleanly, open, startBrowser } from "./browser.ts";
import { rowsOf } from "./content.ts";
import { Server } from "./server.ts";
import { clickText, parameter, waitForGraph, waitForParameter } from "./wait.ts";

const MIN = 60_000, HOUR = 60 * MIN, DAY = 24 * HOUR;
const now = Math.floor(Date.now() / 1000) * 1000;
const deployed = now - 20 * MIN;
let server: Server, browser: Browser;

before(async () => {
  server = await Server.start();
  browser = await startBrowser();
  // The profile that starts at the annotation belongs to the time after it.
  await server.pushFolded("shop.cpu", "main;work 200", deployed - 5 * MIN);
  await server.pushFolded("shop.cpu", "main;work 100", deployed);
  await server.pushFolded("shop.cpu", "main;work 300\nmain;render 500", deployed + 10_000);
  await server.pushFolded("shop.cpu", "main;work 100", now - MIN);
  await server.pushFolded("cart.cpu", "main;work 100", now - MIN);
  await server.send("api/v1/annotations", JSON.stringify({ text: "Deployed 1.4", application: null, timeMs: deployed }), "application/json");
});

after(async () => {
  await browser.close();
});

interface Sides {
  left: [number, number];
  right: [number, number];
}

function sides(page: Page): Sides {
  const range = (side: string): [number, number] => [Number(parameter(page, `${side}From`)), Number(parameter(page, `${side}Until`))];

  return { left: range("left"), right: range("right") };
}

function assertApart({ left, right }: Sides, message?: string): void {
  assert.ok(left[0] < left[1] && right[0] < right[1] && (left[1] <= right[0] || right[1] <= left[0]), message ?? JSON.stringify({ left, right }));
}

const sums = async (page: Page): Promise<string[]> => {
  await page.waitForFunction(() => {
    const all = Array.from(document.querySelectorAll(".side-sum"));
    return all.length === 2 && all.every((sum) => sum.textContent !== "");
  });
  return await page.$$eval(".side-sum", (all) => all.map((sum) => sum.textContent));
};

const address = (left: readonly [number, number], right: readonly [number, number], more: Record<string, string> = {}): string =>
  `${server.base}comparison?${new URLSearchParams({
    query: "shop.cpu", leftFrom: String(left[0]), leftUntil: String(left[1]), rightFrom: String(right[0]), rightUntil: String(right[1]), ...more,
  }).toString()}`;

for (const [link, path] of [["Compare before and after", "/comparison"], ["Diff before and after", "/comparison-diff"]] as const)
  test(`three clicks lead from the services to "${link}"`, async () => {
    const opened = await open(browser, server.base);
    const { page } = opened;

    await clickText(page, ".services th a", "shop");
    await page.waitForSelector(".mark");
    await page.click(".mark");
    await clickText(page, ".mark-info a", link);
    await page.waitForFunction((wanted) => location.pathname === wanted, {}, path);
    const { left, right } = sides(page);
    assert.deepEqual([left[1], right[0]], [deployed, deployed]);
    assert.equal(left[1] - left[0], right[1] - right[0]);
    assert.equal(parameter(page, "query"), '{service_name="shop"}');
    if (path === "/comparison") {
      assert.deepEqual(await sums(page), ["3.00 s CPU", "9.00 s CPU"]);
      await page.click(".tools-row a");
    }
    const rows = await rowsOf(page, "Largest changes");
    assert.equal(rows.find(([name]) => name === "render")?.at(-1), "new");
    assert.deepEqual(sides(page), { left, right });
    await closeCleanly(opened);
  });

test("an annotation can be compared by keyboard", async () => {
  const opened = await open(browser, `${server.base}?query=shop.cpu`);
  const { page } = opened;

  await page.waitForSelector(".mark");
  await page.focus(".mark");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".mark-info");
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Compare before and after");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.pathname === "/comparison-diff");
  await rowsOf(page, "Largest changes");
  await closeCleanly(opened);
});

test("Compare and Diff start with the range and the one before it", async () => {
  const opened = await open(browser, `${server.base}?query=shop.cpu&from=now-30m`);
  const { page } = opened;

  await waitForGraph(page);
  for (const view of ["Compare", "Diff"]) {
    await page.evaluate((name) => { Array.from(document.querySelectorAll<HTMLElement>(".shell nav a")).find((each) => each.textContent === name)!.click(); }, view);
    await page.waitForFunction(() => new URL(location.href).searchParams.has("rightUntil"));
    const { left, right } = sides(page);
    assert.equal(left[1], right[0]);
    assert.deepEqual([left[1] - left[0], right[1] - right[0]], [30 * MIN, 30 * MIN]);
    await page.goBack();
    await waitForGraph(page);
  }
  await closeCleanly(opened);
});

test("Compare and Diff show the annotations, which can be removed and restored", async () => {
  for (const view of ["comparison", "comparison-diff"]) {
    const opened = await open(browser, address([now - HOUR, now - HOUR / 2], [now - HOUR / 2, now]).replace("comparison?", `${view}?`), 1280, 800);
    const { page } = opened;

    await page.waitForSelector(".mark");
    await page.click(".mark");
    await clickText(page, ".mark-info button", "Remove");
    await page.waitForFunction(() => document.querySelectorAll(".mark").length === 0);
    await clickText(page, ".mark-info button", "Undo");
    await page.waitForSelector(".mark");
    await page.click(".mark");
    await clickText(page, ".mark-info a", "Diff before and after");
    await page.waitForFunction((wanted) => new URL(location.href).searchParams.get("leftUntil") === wanted, {}, String(deployed));
    assert.equal(parameter(page, "query"), "shop.cpu");
    await rowsOf(page, "Largest changes");
    await closeCleanly(opened);
  }
});

test("ranges are dragged by touch", async () => {
  const opened = await open(browser, address([now - 2 * HOUR, now - HOUR], [now - HOUR, now]), 800, 900);
  const { page } = opened;

  await page.setViewport({ width: 800, height: 900, hasTouch: true });
  await sums(page);
  for (const [selector, byPx] of [[".time-range.left .time-whole", -60], [".time-range.right .time-start", 40], [".time-tint.left", -20]] as const) {
    const { href } = new URL(page.url());
    await page.waitForFunction((found) => (document.querySelector(found)?.getBoundingClientRect().width ?? 0) > 0, {}, selector);
    const box = (await (await page.$(selector))!.boundingBox())!;
    await page.touchscreen.touchStart(box.x + box.width / 2, box.y + box.height / 2);
    await page.touchscreen.touchMove(box.x + box.width / 2 + byPx / 2, box.y + box.height / 2);
    await page.touchscreen.touchMove(box.x + box.width / 2 + byPx, box.y + box.height / 2);
    await page.touchscreen.touchEnd();
    await page.waitForFunction((last) => location.href !== last, {}, href);
    await sums(page);
  }
  assertApart(sides(page));
  await page.waitForSelector(".mark");
  await page.tap(".mark");
  await page.waitForSelector(".mark-info");
  await closeCleanly(opened);
});

test("steps of a side never lead into the other side", async () => {
  const opened = await open(browser, address([now - 2 * HOUR, now - HOUR], [now - HOUR, now]));
  const { page } = opened;

  await sums(page);
  for (const [side, direction] of [["right", "Earlier"], ["right", "Earlier"], ["right", "Later"], ["right", "Later"], ["left", "Later"], ["left", "Earlier"], ["left", "Earlier"]] as const) {
    const { href } = new URL(page.url());
    await page.click(`.comparison-side.${side} [aria-label="${direction}"]`);
    await page.waitForFunction((last) => location.href !== last, {}, href);
    await sums(page);
    const found = sides(page);
    assertApart(found, `${side} ${direction}: ${JSON.stringify(found)}`);
    assert.deepEqual([found.left[1] - found.left[0], found.right[1] - found.right[0]], [HOUR, HOUR]);
  }
  await closeCleanly(opened);
});

test("buttons set the baseline to the time before, yesterday or last week", async () => {
  const opened = await open(browser, address([now - HOUR, now], [now - HOUR, now]));
  const { page } = opened;
  const local = (days: number): number => new Date(now - HOUR).setDate(new Date(now - HOUR).getDate() - days);

  for (const [name, from] of [["Before", now - 2 * HOUR], ["Same time yesterday", local(1)], ["Same time last week", local(7)]] as const) {
    await page.waitForSelector(".tools-row [aria-label=Baseline]");
    await page.evaluate((text) => { Array.from(document.querySelectorAll<HTMLElement>(".tools-row [aria-label=Baseline] button")).find((each) => each.textContent === text)!.click(); }, name);
    await waitForParameter(page, "leftFrom", String(from));
    assertApart(sides(page), name);
    assert.deepEqual(await page.$$eval(".tools-row [aria-pressed=true]", (all) => all.map((each) => each.textContent)), [name]);
  }
  await page.goto(address([now - 4 * DAY, now - 2 * DAY], [now - 2 * DAY, now]));
  await sums(page);
  assert.deepEqual(await page.$$eval(".tools-row [aria-label=Baseline] button", (all) => all.map((each) => each.textContent)), ["Before", "Same time last week"]);
  await closeCleanly(opened);
});

test("ranges are dragged by the mouse, from the middle, the ends and the timeline", async () => {
  const opened = await open(browser, address([now - 2 * HOUR, now - HOUR], [now - HOUR, now], { from: String(now - 4 * HOUR), until: String(now) }));
  const { page } = opened;
  const drag = async (selector: string, byPx: number): Promise<void> => {
    const { href } = new URL(page.url());
    await sums(page);
    await page.waitForFunction((found) => document.querySelector(found)!.getBoundingClientRect().width > 0, {}, selector);
    const box = (await (await page.$(selector))!.boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 + byPx, box.y + box.height / 2, { steps: 4 });
    await page.mouse.up();
    await page.waitForFunction((last) => location.href !== last, {}, href);
  };

  await drag(".time-range.left .time-whole", -100);
  const first = sides(page);
  assert.equal(first.left[1] - first.left[0], HOUR);
  assert.ok(first.left[0] < now - 2 * HOUR - 5 * MIN);
  assert.deepEqual(first.right, [now - HOUR, now]);
  await drag(".time-range.right .time-start", 60);
  const second = sides(page);
  assert.ok(second.right[0] > now - HOUR + 5 * MIN && second.right[1] === now, JSON.stringify([first, second, now]));
  await drag(".time-tint.left", 40);
  const third = sides(page);
  assert.ok(third.left[0] > first.left[0]);
  assert.equal(third.left[1] - third.left[0], HOUR);
  await page.goBack();
  await waitForParameter(page, "leftFrom", String(first.left[0]));
  await closeCleanly(opened);
});

test("ranges are moved by the keyboard, and the focus stays", async () => {
  const opened = await open(browser, address([now - 2 * HOUR, now - HOUR], [now - HOUR, now]).replace("/comparison?", "/comparison-diff?"));
  const { page } = opened;
  const focused = async (): Promise<string | null> => await page.evaluate(() => document.activeElement!.getAttribute("aria-label"));

  await rowsOf(page, "Largest changes").catch(() => undefined);
  await page.focus(".time-range.left .time-end");
  const value = async (): Promise<string | null> => await page.evaluate(() => document.activeElement!.getAttribute("aria-valuenow"));
  assert.equal(await value(), String(now - HOUR));
  await page.keyboard.press("PageDown");
  assert.ok(Number(await value()) < now - HOUR);
  assert.equal(parameter(page, "leftUntil"), String(now - HOUR));
  await page.keyboard.press("Escape");
  assert.equal(await value(), String(now - HOUR));
  await page.keyboard.press("ArrowLeft");
  const next = await value();
  await page.keyboard.press("Enter");
  await waitForParameter(page, "leftUntil", next);
  assert.equal(await focused(), "Baseline, end");
  await page.focus(".time-range.left .time-whole");
  await page.keyboard.press("Home");
  await page.keyboard.press("Enter");
  await page.waitForFunction((last) => Number(new URL(location.href).searchParams.get("leftFrom")) < last, {}, now - 2 * HOUR);
  assert.equal(await focused(), "Baseline, whole range");
  await closeCleanly(opened);
});

test("two queries have two timelines and may have the same time", async () => {
  const opened = await open(browser, address([now - HOUR, now], [now - HOUR, now], { leftQuery: "cart.cpu" }));
  const { page } = opened;

  assert.deepEqual(await sums(page), ["1.00 s CPU", "12.0 s CPU"]);
  assert.deepEqual(await page.$$eval("section.timeline", (all) => all.map((each) => [each.getAttribute("aria-label"), each.querySelectorAll(".time-range").length])),
    [["Timeline, baseline", 1], ["Timeline, comparison", 1]]);
  assert.deepEqual(await page.$$eval(".tools-row [aria-pressed=true]", (all) => all.map((each) => each.textContent)), ["Same time"]);
  await page.goto(`${server.base}comparison?leftQuery=cart.cpu&rightQuery=shop.cpu`);
  assert.deepEqual(await sums(page), ["1.00 s CPU", "12.0 s CPU"]);
  await closeCleanly(opened);
});

test("at 1280 pixels, the graphs are as wide as their sides, above the tables", async () => {
  const opened = await open(browser, address([deployed - HOUR, deployed], [deployed, now]), 1280, 800);
  const { page } = opened;

  await sums(page);
  await page.waitForSelector(".comparison-side.right canvas");
  for (const side of ["left", "right"]) {
    const [graph, table] = await Promise.all([".flame-graphs", ".flame-table"].map(async (selector) => (await (await page.$(`.comparison-side.${side} ${selector}`))!.boundingBox())!));
    assert.ok(graph!.width > 550, `${graph!.width}`);
    assert.ok(table!.y > graph!.y + graph!.height - 1);
  }
  await closeCleanly(opened);
});

test("a comparison fits 400 pixels, and axe finds no serious problems", async () => {
  const opened = await open(browser, address([deployed - HOUR, deployed], [deployed, now]), 400, 800);
  const { page } = opened;

  await sums(page);
  await page.waitForFunction(() => document.querySelector(".time-range.left")!.getBoundingClientRect().width > 0);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await accessibleInBothThemes(page);
  await closeCleanly(opened);
});
