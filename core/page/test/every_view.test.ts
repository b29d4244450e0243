/** Checks that hold for every view: accessibility, the keyboard, and narrow, wide and
 * enlarged windows. If SPANPROF_PICTURES names a directory, the test writes a screenshot of
 * each view to it. */
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import type { Browser, Page } from "puppeteer-core";
import { accessible } from "./axe.ts";
import { closeCleanly, open, startBrowser } from "./browser.ts";
import { EVERY_VIEW, serverOfEveryView, type ViewCase } from "./every_view.ts";
import type { Server } from "./server.ts";
import { waitForPaint, waitForQuiet, waitForText } from "./wait.ts";

const PICTURES = process.env["SPANPROF_PICTURES"];

interface Window {
  name: string;
  width: number;
  height: number;
  /** Device pixels for each CSS pixel. */
  scale: number;
  theme: "light" | "dark";
}

/** 200 % zoom in a window of 1280 pixels leaves 640 CSS pixels. */
const WINDOWS: readonly Window[] = [
  { name: "1280-light", width: 1280, height: 800, scale: 1, theme: "light" },
  { name: "1920-dark", width: 1920, height: 1080, scale: 1, theme: "dark" },
  { name: "400-light", width: 400, height: 800, scale: 1, theme: "light" },
  { name: "zoomed-dark", width: 640, height: 400, scale: 2, theme: "dark" },
];

let server: Server;
let browser: Browser;

before(async () => {
  server = await serverOfEveryView();
  browser = await startBrowser();
});

after(async () => {
  await browser.close();
});

async function shown(page: Page, view: ViewCase): Promise<void> {
  await waitForText(page, "#view", view.expected);
  if (view.hasGraph)
    await waitForPaint(page);
  await waitForQuiet(page);
}

async function writePicture(page: Page, view: ViewCase, window: Window): Promise<void> {
  if (PICTURES === undefined)
    return;
  mkdirSync(PICTURES, { recursive: true });
  const name = `${EVERY_VIEW.indexOf(view)}-${/^\w*/.exec(view.address)![0] || "explore"}-${window.name}.png` as const;
  await page.screenshot({ path: `${PICTURES}/${name}` });
}

/** Returns descriptions of the visible controls that the key Tab does not reach. */
async function unreachable(page: Page): Promise<string[]> {
  const count = await page.evaluate(() => {
    const all = [...document.querySelectorAll<HTMLElement>("a[href], button, input, select, textarea, summary, [tabindex]")]
      .filter((element) => element.tabIndex >= 0 && !element.matches(":disabled, [inert] *") && element.checkVisibility({ visibilityProperty: true }));
    (window as unknown as { toReach: Set<HTMLElement> }).toReach = new Set(all);
    return all.length;
  });

  await page.evaluate(() => { (document.activeElement as HTMLElement | null)?.blur(); });
  for (let presses = 0; presses < count + 10; presses++) {
    await page.keyboard.press("Tab");
    await page.evaluate(() => (window as unknown as { toReach: Set<Element | null> }).toReach.delete(document.activeElement));
  }
  // Ignore headings that a table has replaced when it got the focus.
  return await page.evaluate(() => [...(window as unknown as { toReach: Set<HTMLElement> }).toReach].filter((element) => element.isConnected).map((element) => `${element.localName}.${element.className} ${element.innerText}`));
}

for (const view of EVERY_VIEW) {
  test(`${view.address} is accessible and fits narrow, wide and enlarged windows`, async () => {
    const opened = await open(browser, server.base + view.address, 1280, 800);
    const { page } = opened;

    for (const window of WINDOWS) {
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: window.theme }]);
      await page.setViewport({ width: window.width, height: window.height, deviceScaleFactor: window.scale });
      await shown(page, view);
      await accessible(page, window.name);
      const [needed, width] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth] as const);
      assert.ok(needed <= width, `${window.name}: the page needs ${needed} pixels, and the window has ${width}`);
      await writePicture(page, view, window);
    }
    await closeCleanly(opened);
  });

  test(`Tab reaches every control of ${view.address}`, async () => {
    const opened = await open(browser, server.base + view.address, 1280, 800);

    await shown(opened.page, view);
    assert.deepEqual(await unreachable(opened.page), []);
    await closeCleanly(opened);
  });
}
