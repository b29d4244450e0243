/** Opens each view once in Firefox. The tests in Chromium cover the details. */
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import type { Browser, ElementHandle, Page } from "puppeteer-core";
import { closeCleanly, firefoxIsMissing, open, startFirefox } from "./browser.ts";
import { text, waitForText } from "./wait.ts";
import { Directory, madeProfile, spanprof } from "./profiles.ts";
import { Server } from "./server.ts";
import { pushSpan, shopTrace, spanId, traceId } from "./shop.ts";

const GRAPH = ".flame-scroll[aria-label='Flame graph']";
const START_MS = 120_000;

let server: Server;
let browser: Browser | null = null;
let files: Directory;

before(async () => {
  files = new Directory();
  server = await Server.start();
  if (firefoxIsMissing === false)
    browser = await startFirefox();
  const startMs = Date.now() - 60_000;
  await server.pushTrace("shop", shopTrace(1, startMs));
  await pushSpan(server, { id: spanId(17), name: "GET /cart", stacks: "main;serve;cart 12\nmain;serve;db 30", untilMs: startMs + 10_000 });
  await pushSpan(server, { id: spanId(18), name: "render", stacks: "main;serve;render 12", untilMs: startMs + 10_000 });
}, { timeout: START_MS });

after(async () => {
  await browser?.close();
  files.dispose();
});

/** Waits until a canvas has a pixel whose colour differs from the first one's. */
async function painted(page: Page): Promise<void> {
  await page.waitForFunction(() => [...document.querySelectorAll("canvas")].some((canvas) => {
    const pixels = canvas.width > 0 && canvas.height > 0 ? canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data : undefined;
    return pixels?.some((value, at) => value !== pixels[at % 4]) ?? false;
  }), { timeout: 20_000 });
}

const both = "leftQuery=shop.cpu&rightQuery=shop.cpu&leftFrom=now-1h&rightFrom=now-1h";
const VIEWS: readonly (readonly [address: string, expected: string, hasGraph: boolean])[] = [
  ["?query=shop.cpu", "540 ms", true],
  ["labels?query=shop.cpu&label=span_name", "GET /cart", true],
  ["spans?query=shop.cpu", "GET /cart", true],
  [`span?query=shop.cpu&span=${spanId(17)}`, "GET /cart", true],
  ["traces", "GET /cart", false],
  [`trace?trace=${traceId(1)}`, "SELECT cart", true],
  [`comparison?${both}`, "540 ms", true],
  [`comparison-diff?${both}`, "Largest changes", true],
  ["adhoc", "Drop a profile here", false],
  ["?query=none.cpu", "No application named", false],
];

for (const [address, expected, hasGraph] of VIEWS)
  test(`Firefox shows ${address}`, { skip: firefoxIsMissing, timeout: START_MS }, async () => {
    const opened = await open(browser!, server.base + address);

    await waitForText(opened.page, "#view", expected);
    if (hasGraph)
      await painted(opened.page);
    await closeCleanly(opened);
  });

test("Firefox zooms and searches by keyboard, and restores both after a reload", { skip: firefoxIsMissing, timeout: START_MS }, async () => {
  const opened = await open(browser!, `${server.base}?query=shop.cpu`);
  const { page } = opened;

  await painted(page);
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
  await painted(opened.page);
  await closeCleanly(opened);
  spanprof("report", "--html", `${files.path}/made.html`, pprof);
  const file = await open(browser!, `${pathToFileURL(`${files.path}/made.html`).href}#search=%2F%5Ework%24%2F`);
  await painted(file.page);
  await waitForText(file.page, ".flame-found", "100.0 %");
  await closeCleanly(file);
});
