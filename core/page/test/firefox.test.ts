/** Opens each view once in Firefox. The tests in Chromium cover the details. */
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import type { Browser, ElementHandle } from "puppeteer-core";
import { closeCleanly, firefoxIsMissing, open, startFirefox } from "./browser.ts";
import { text, waitForPaint, waitForText } from "./wait.ts";
import { Directory, madeProfile, spanprof } from "./profiles.ts";
import { EVERY_VIEW, serverOfEveryView } from "./every_view.ts";
import type { Server } from "./server.ts";

const GRAPH = ".flame-scroll[aria-label='Flame graph']";
const START_MS = 120_000;

let server: Server;
let browser: Browser | null = null;
let files: Directory;

before(async () => {
  files = new Directory();
  server = await serverOfEveryView();
  if (firefoxIsMissing === false)
    browser = await startFirefox();
}, { timeout: START_MS });

after(async () => {
  await browser?.close();
  files.dispose();
});

for (const { address, expected, hasGraph } of EVERY_VIEW)
  test(`Firefox shows ${address}`, { skip: firefoxIsMissing, timeout: START_MS }, async () => {
    const opened = await open(browser!, server.base + address);

    await waitForText(opened.page, "#view", expected);
    if (hasGraph)
      await waitForPaint(opened.page);
    await closeCleanly(opened);
  });

test("Firefox zooms and searches by keyboard, and restores both after a reload", { skip: firefoxIsMissing, timeout: START_MS }, async () => {
  const opened = await open(browser!, `${server.base}?query=shop.cpu`);
  const { page } = opened;

  await waitForPaint(page);
  await page.focus(GRAPH);
  for (const key of ["ArrowDown", "ArrowDown", "Enter"] as const)
    await page.keyboard.press(key);
  await waitForText(page, ".flame-crumbs", "serve");
  await page.keyboard.press("/");
  await page.keyboard.type("/^(cart|db)$/");
  await waitForText(page, ".flame-found", "77.8 %");
  await page.reload();
  await waitForText(page, ".flame-found", "77.8 %");
  assert.match(await text(page, ".flame-crumbs"), /serve/);
  await closeCleanly(opened);
});

test("Firefox reads a dropped file and opens a report from disk", { skip: firefoxIsMissing, timeout: START_MS }, async () => {
  const pprof = files.write("made.pb", madeProfile([{ stack: ["main", "work"], count: 20 }]));
  const opened = await open(browser!, `${server.base}adhoc`);

  await (await opened.page.waitForSelector("input[type=file]") as ElementHandle<HTMLInputElement>).uploadFile(pprof);
  await waitForText(opened.page, ".adhoc-file", "20 samples");
  await waitForPaint(opened.page);
  await closeCleanly(opened);
  spanprof("report", "--html", `${files.path}/made.html`, pprof);
  const file = await open(browser!, `${pathToFileURL(`${files.path}/made.html`).href}#search=%2F%5Ework%24%2F`);
  await waitForPaint(file.page);
  await waitForText(file.page, ".flame-found", "100.0 %");
  await closeCleanly(file);
});
