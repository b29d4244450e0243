/** Tests of printing, small screens and forced colours. */
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import type { Browser, Page } from "puppeteer-core";
import { accessible } from "./axe.ts";
import { closeCleanly, open, startBrowser } from "./browser.ts";
import { FlamePages, wireOf } from "./flame_browser.ts";
import { waitForGraph } from "./wait.ts";
import { Server } from "./server.ts";

const DEEP = Array.from({ length: 80 }, (_, at) => `f${at}`).join(";");
const STACKS = { [DEEP]: 5e9, ...Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`main;g${at}`, 1e8 + at])) };

let server: Server;
let browser: Browser;
let pages: FlamePages;

before(async () => {
  server = await Server.start();
  browser = await startBrowser();
  pages = await FlamePages.of(browser);
  await server.pushFolded("shop.cpu{host=web-1}", "main;serve;db 70\nmain;serve;render 30");
});

after(async () => {
  pages.dispose();
  await browser.close();
});

/** Switches between print and screen layout, without the print dialog. */
async function setLayout(page: Page, isPaper: boolean): Promise<void> {
  await page.evaluate((name) => { dispatchEvent(new Event(name)); }, isPaper ? "beforeprint" : "afterprint");
  await page.emulateMediaType(isPaper ? "print" : "screen");
}

test("a dark page prints in light colours with the whole graph and table rows in sequence", async () => {
  const opened = await pages.open([wireOf(STACKS)], "layout=flame");
  const { page } = opened;

  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
  await page.setViewport({ width: 720, height: 900 });
  await setLayout(page, true);
  const seen = await page.evaluate(() => {
    const canvas = document.querySelector<HTMLCanvasElement>(".flame-printed canvas")!;
    const rows = [...document.querySelectorAll(".flame-rows [role='row']")].map((row) => row.getBoundingClientRect());
    const body = document.querySelector(".flame-table")!.getBoundingClientRect();
    return {
      levels: canvas.height / 2 / 20, isShown: canvas.checkVisibility(), pixel: [...canvas.getContext("2d")!.getImageData(canvas.width - 2, 1, 1, 1).data],
      rows: rows.length, follow: rows.every((row, at) => at === 0 || row.top >= rows[at - 1]!.bottom - 0.5), ends: body.bottom >= rows[rows.length - 1]!.bottom,
      rest: document.querySelector(".flame-rest")!.textContent, wide: document.documentElement.scrollWidth,
      tools: [...document.querySelectorAll(".flame-tools, .flame-scroll")].filter((each) => each.checkVisibility()).length,
    };
  });

  assert.deepEqual(seen, {
    levels: 81, isShown: true, pixel: [255, 255, 255, 255], rows: 100, follow: true, ends: true,
    rest: "The first 100 of 231 functions.", wide: 720, tools: 0,
  });
  await setLayout(page, false);
  assert.equal(await page.$(".flame-printed canvas"), null);
  assert.ok((await page.$$(".flame-rows [role='row']")).length < 60);
  await closeCleanly(opened);
});

test("a page with the dark theme prints in light colours and is dark again afterwards", async () => {
  const opened = await open(browser, `${server.base}?query=shop.cpu`);
  const { page } = opened;
  const ground = async (): Promise<string> => await page.evaluate(() => getComputedStyle(document.body).backgroundColor);

  await waitForGraph(page);
  await page.select("select[aria-label=Theme]", "dark");
  const dark = await ground();
  await setLayout(page, true);
  assert.equal(await ground(), "rgb(255, 255, 255)");
  await setLayout(page, false);
  assert.equal(await ground(), dark);
  await page.select("select[aria-label=Theme]", "system");
  await page.pdf({ format: "A4" });
  await closeCleanly(opened);
});

for (const [width, height] of [[320, 640], [700, 450]] as const)
  test(`no view is wider than a screen of ${width} pixels, and the header scrolls away`, async () => {
    for (const address of ["?query=shop.cpu", "labels?query=shop.cpu", "spans", "traces", "comparison", "comparison-diff?leftQuery=shop.cpu&rightQuery=shop.cpu", "adhoc", "?query=none.cpu"]) {
      const opened = await open(browser, server.base + address, width, height);
      const { page } = opened;

      await page.waitForFunction(() => document.querySelector("#view .view")!.childElementCount > 0 && document.querySelector("#view")!.getAttribute("aria-busy") !== "true");
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), address);
      assert.equal(await page.$eval("header.shell", (head) => getComputedStyle(head).position), "static");
      await accessible(page, `${address} at ${width}`);
      await closeCleanly(opened);
    }
  });

test("with forced colours, selections stay visible and colours with a meaning stay", async () => {
  const opened = await open(browser, `${server.base}?query=shop.cpu`);
  const { page } = opened;
  const fills = async (selector: string): Promise<string[]> =>
    await page.$$eval(selector, (found) => [...new Set(found.map((each) => getComputedStyle(each).backgroundColor))]);

  await waitForGraph(page);
  await (await page.createCDPSession()).send("Emulation.setEmulatedMedia", { features: [{ name: "forced-colors", value: "active" }] });
  const [chosen, others] = [await fills(".flame-shown [aria-pressed=true]"), await fills(".flame-shown [aria-pressed=false]")];
  assert.notDeepEqual(chosen, others);
  await page.waitForSelector(".flame-swatch");
  assert.match((await fills(".flame-swatch"))[0]!, /^rgb\(230, 144, 132\)$/);
  await closeCleanly(opened);
});
