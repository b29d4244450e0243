import { test } from "node:test";
import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import type { Panel } from "../src/flame/panel.ts";
import { closeCleanly } from "./browser.ts";
import { useFlamePages } from "./fixtures.ts";
import { wireOf } from "./flame_browser.ts";

const GRAPH = ".flame-scroll[aria-label='Flame graph']";
const pages = useFlamePages();

async function textsOf(page: Page, selector: string): Promise<string[]> {
  return await page.$$eval(selector, (found) => found.filter((each) => each.checkVisibility()).map((each) => each.textContent));
}

test("a sandwich scrolls into view, and its function keeps its colour", async () => {
  const deep = Array.from({ length: 60 }, (_, at) => `d${at}`).join(";");
  const opened = await pages.open([wireOf({ [deep]: 20e9, "main;d59;leaf": 1e9 }, (name) => `/app/${name}/a.rb`)], "", 1280);
  const { page } = opened;
  const fillOf = async (name: string): Promise<string[]> => await page.evaluate((text) => {
    const { rectangles, texts: drawn } = (window as unknown as { panels: Panel[] }).panels[0]!.picture();
    return [...new Set(drawn.filter((each) => each.text.startsWith(`${text} `)).map(({ x, y }) => rectangles.find((each) => Math.abs(each.x + 4 - x) < 0.1 && Math.abs(each.y + 10 - y) < 0.1)!.fill))];
  }, name);

  await page.evaluate(() => { document.querySelector("main")!.style.paddingTop = "700px"; });
  await page.evaluate(() => { scrollTo(0, 300); });
  const [fill] = await fillOf("d59");
  await page.focus(GRAPH);
  for (let level = 0; level < 60; level++)
    await page.keyboard.press("ArrowDown");
  await page.keyboard.press("s");
  assert.deepEqual(await textsOf(page, ".flame-half"), ["Callers of d59", "Callees of d59"]);
  assert.deepEqual(await fillOf("d59"), [fill]);
  // The function is at the end of the upper half and at the start of the lower one.
  const [upper, lower, seen] = await page.evaluate(() => [...document.querySelectorAll(".flame-scroll")].map((each) => each.getBoundingClientRect()).map(({ top, bottom }, at) => at === 0 ? bottom : top)
    .concat(innerHeight)) as [number, number, number];
  assert.ok(upper > 60 && upper < lower && lower < seen - 20, `${upper} ${lower} ${seen}`);
  const isAtEnd = async (): Promise<boolean> => await page.$eval(".flame-scroll[aria-label=Callers]", (half) =>
    half.scrollTop > 0 && Math.abs(half.scrollHeight - half.clientHeight - half.scrollTop) < 2);
  assert.ok(await isAtEnd());
  await page.reload();
  await page.waitForSelector(".flame-half:not([hidden])");
  assert.ok(await isAtEnd());
  await closeCleanly(opened);
});

test("the wheel zooms step by step with Ctrl, and scrolls without it", async () => {
  const opened = await pages.open([wireOf({ "main;serve;order;query": 6e9, "main;serve;cart": 2e9, "main;gc": 2e9 })]);
  const { page } = opened;
  const box = (await (await page.$(`${GRAPH} canvas`))!.boundingBox())!;
  const crumbs = async (): Promise<string[]> => await textsOf(page, ".flame-crumbs button");
  const wheel = async (deltaY: number, isZoom = true): Promise<void> => {
    const before = await crumbs();
    await page.mouse.move(box.x + box.width * 0.1, (await (await page.$(`${GRAPH} canvas`))!.boundingBox())!.y + 70);
    if (isZoom)
      await page.keyboard.down("Control");
    await page.mouse.wheel({ deltaY });
    await new Promise((resolve) => setTimeout(resolve, 200));
    await page.keyboard.up("Control");
    assert.equal(isZoom, (await crumbs()).join() !== before.join());
  };

  await wheel(-100, false);
  // "main" is as wide as "all", so the first step goes to "serve".
  await wheel(-100);
  assert.deepEqual(await crumbs(), ["all", "main", "serve"]);
  await wheel(-100);
  assert.deepEqual(await crumbs(), ["all", "main", "serve", "order"]);
  await wheel(100);
  assert.deepEqual(await crumbs(), ["all", "main", "serve"]);
  await wheel(100);
  assert.deepEqual(await crumbs(), []);
  await closeCleanly(opened);
});

test("the overview of a zoomed graph marks the frame, and a click zooms to another one", async () => {
  const opened = await pages.open([wireOf({ "main;order;query": 6e9, "main;cart": 2e9, "main;gc": 2e9 })]);
  const { page } = opened;

  assert.deepEqual(await textsOf(page, ".flame-minimap"), []);
  await page.focus(GRAPH);
  for (const key of ["ArrowDown", "ArrowDown", "Enter"])
    await page.keyboard.press(key as "Enter");
  const map = (await (await page.waitForSelector(".flame-minimap:not([hidden])"))!.boundingBox())!;
  const mark = (await (await page.$(".flame-minimap-mark"))!.boundingBox())!;
  assert.ok(Math.abs(mark.width / map.width - 0.6) < 0.01 && mark.x - map.x < 3);
  await page.mouse.click(map.x + map.width * 0.7, map.y + map.height - 4);
  assert.deepEqual(await textsOf(page, ".flame-crumbs button"), ["all", "main", "cart"]);
  await page.keyboard.press("Escape");
  await page.reload();
  assert.deepEqual(await textsOf(page, ".flame-crumbs button"), ["all", "main", "cart"]);
  await closeCleanly(opened);
});

test("a drag zooms to the smallest frame that contains the range, and Escape cancels it", async () => {
  const opened = await pages.open([wireOf({ "main;serve;order;query": 6e9, "main;serve;cart": 2e9, "main;gc": 2e9 })]);
  const { page } = opened;
  const box = (await (await page.$(`${GRAPH} canvas`))!.boundingBox())!;
  const crumbs = async (): Promise<string> => (await textsOf(page, ".flame-crumbs button")).join(" ");
  const drag = async (from: number, until: number, key?: "Escape"): Promise<string> => {
    const { y } = (await (await page.$(`${GRAPH} canvas`))!.boundingBox())!;
    await page.mouse.move(box.x + from, y + 50);
    await page.mouse.down();
    await page.mouse.move(box.x + until, y + 10, { steps: 3 });
    const tip = (await textsOf(page, ".flame-tip strong")).join();
    assert.equal((await textsOf(page, ".drag-range")).length, 1);
    if (key)
      await page.keyboard.press(key);
    await page.mouse.up();
    assert.deepEqual(await textsOf(page, ".drag-range, .flame-tip"), []);
    return tip;
  };

  assert.equal(await drag(box.width * 0.1, box.width * 0.5, "Escape"), "order");
  assert.equal(await crumbs(), "");
  // "order" and "query" are equally wide. Two pixels too many do not matter.
  assert.equal(await drag(box.width * 0.6 + 2, 10), "order");
  assert.equal(await crumbs(), "all main serve order");
  await page.keyboard.press("u");
  assert.equal(await drag(box.width * 0.5, box.width * 0.7), "serve");
  assert.equal(await crumbs(), "all main serve");
  assert.equal(await page.evaluate(() => getSelection()!.toString()), "");
  await page.reload();
  assert.equal(await crumbs(), "all main serve");
  // Only the zoomed frame contains all of these pixels.
  assert.equal(await drag(box.width * 0.2, box.width * 0.9), "");
  assert.equal(await crumbs(), "all main serve");
  await page.mouse.click(box.x + box.width * 0.9, (await (await page.$(`${GRAPH} canvas`))!.boundingBox())!.y + 70);
  assert.equal(await crumbs(), "all main serve cart");
  await closeCleanly(opened);
});
