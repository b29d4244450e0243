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

