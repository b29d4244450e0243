import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import type { Browser, Page } from "puppeteer-core";
import type { Panel } from "../src/flame/panel.ts";
import { closeCleanly, startBrowser } from "./browser.ts";
import { FlamePages, wireOf } from "./flame_browser.ts";

const GRAPH = ".flame-scroll[aria-label='Flame graph']";
let browser: Browser;
let pages: FlamePages;

before(async () => {
  browser = await startBrowser();
  pages = await FlamePages.of(browser);
});

after(async () => {
  pages.dispose();
  await browser.close();
});

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
