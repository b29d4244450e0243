/** Counts the clicks from the landing page of a server with several services to the
 * answers to frequent questions. */
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import type { Browser, Page } from "puppeteer-core";
import { accessible } from "./axe.ts";
import { closeCleanly, open, startBrowser } from "./browser.ts";
import { rowsOf } from "./content.ts";
import { Server } from "./server.ts";
import { pushSpan, shopTrace, spanId } from "./shop.ts";
import { parameter, waitForText } from "./wait.ts";

const MIN = 60_000;
const now = Math.floor(Date.now() / 1000) * 1000;
const REGIONS = ["asia", "eu", "sa", "us"];
let server: Server, browser: Browser;

before(async () => {
  server = await Server.start();
  browser = await startBrowser();
  for (const [number, region] of REGIONS.entries())
    await server.pushFolded(`shop.cpu{region=${region}}`, `main;work ${100 * (number + 1)}\nmain;${region} 50`, now - MIN);
  await server.pushFolded("shop.cpu{region=eu}", "main;render 90", now - 20 * MIN);
  await server.pushFolded("mail.cpu", "main;send 30", now - MIN);
  await server.pushTrace("shop", shopTrace(1, now - 2 * MIN));
  await pushSpan(server, { id: spanId(17), name: "GET /cart", stacks: "main;total_of_cart 40", untilMs: now - 2 * MIN + 5000 });
  await server.send("api/v1/annotations", JSON.stringify({ text: "Deployed 1.4", application: null, timeMs: now - 10 * MIN }), "application/json");
});

after(async () => {
  await browser.close();
});

/** Clicks with the mouse and counts the clicks. */
class Mouse {
  clicks = 0;

  constructor(private readonly page: Page) {}

  /** Clicks the first element whose text or name starts with `expected`, after all data has
   * arrived. */
  async click(selector: string, expected = ""): Promise<void> {
    await this.page.waitForSelector("#view[aria-busy=false]");
    const found = await this.page.waitForFunction((where, what) => [...document.querySelectorAll<HTMLElement>(where)]
      .find((each) => each.checkVisibility() && (each.innerText.startsWith(what) || (each.getAttribute("aria-label") ?? "").startsWith(what))), {}, selector, expected);

    await (found.asElement() as Awaited<ReturnType<Page["$"]>>)!.click();
    this.clicks++;
  }
}

async function landing(): Promise<{ opened: Awaited<ReturnType<typeof open>>; page: Page; mouse: Mouse }> {
  const opened = await open(browser, server.base, 1280, 800);

  await waitForText(opened.page, ".services .row-list", "region");
  return { opened, page: opened.page, mouse: new Mouse(opened.page) };
}

test("why a trace was slow: three clicks", async () => {
  const { opened, page, mouse } = await landing();

  await mouse.click(".service-links a", "Traces of shop");
  await mouse.click('table[aria-label="Traces"] a', "GET /cart");
  await mouse.click('[data-index="0"] .number');
  await waitForText(page, ".flame-table", "total_of_cart");
  assert.equal(mouse.clicks, 3);
  await closeCleanly(opened);
});

test("what became slower since an annotation: three clicks", async () => {
  const { opened, page, mouse } = await landing();

  await mouse.click(".services th a", "shop");
  await mouse.click(".mark");
  await mouse.click(".mark-info a", "Diff before and after");
  const rows = await rowsOf(page, "Largest changes");
  assert.ok(rows.some(([name, ...cells]) => name === "work" && cells.at(-1) === "new"));
  assert.equal(mouse.clicks, 3);
  await closeCleanly(opened);
});

test("which endpoint, and which function in it: one click", async () => {
  const { opened, page, mouse } = await landing();

  await waitForText(page, ".top-spans", "GET /cart 400 ms");
  await mouse.click(".top-spans a", "GET /cart");
  await waitForText(page, "#of-name", "CPU of GET /cart");
  await waitForText(page, ".flame-table", "total_of_cart");
  assert.equal(mouse.clicks, 1);
  await closeCleanly(opened);
});

test("one region against another one: three clicks for each pair", async () => {
  for (const [number, base] of REGIONS.entries()) {
    const value = REGIONS[(number + 1) % REGIONS.length]!;
    const { opened, page, mouse } = await landing();

    await mouse.click(".services .row-list a", "region");
    // At first, the two values with the largest totals, "sa" and "us", are ticked, and "sa" is
    // the baseline. If the tick of "sa" is removed, "us" is the baseline.
    await page.waitForSelector(".pair a");
    if (base !== "sa")
      await mouse.click(".tick", `Compare value ${base === "us" ? "sa" : base}`);
    await mouse.click("a.diff", `Diff: baseline ${base}, comparison ${value}`);
    await page.waitForSelector(".view-comparison-diff .summary");
    assert.equal(parameter(page, "leftQuery"), `{service_name="shop",region="${base}"}`);
    assert.equal(parameter(page, "rightQuery"), `{service_name="shop",region="${value}"}`);
    assert.equal(mouse.clicks, base === "sa" ? 2 : 3);
    await closeCleanly(opened);
  }
});

test("a file: two clicks", async () => {
  const { opened, page, mouse } = await landing();

  await mouse.click(".shell nav a", "Open file");
  await page.waitForSelector("input[type=file]");
  const [chooser] = await Promise.all([page.waitForFileChooser(), mouse.click(".adhoc-drop", "Drop a profile here, or choose a file")]);
  await chooser.cancel();
  assert.equal(mouse.clicks, 2);
  await closeCleanly(opened);
});

test("a link to the view: one click", async () => {
  const { opened, page, mouse } = await landing();

  await mouse.click(".copy button", "Copy link");
  await page.waitForFunction(() => document.querySelector(".copy button")?.textContent === "Copied" || !document.querySelector<HTMLElement>(".copy-link")!.hidden);
  assert.equal(mouse.clicks, 1);
  await closeCleanly(opened);
});

test("a profile as a file: one click", async () => {
  const { opened, page, mouse } = await landing();
  const session = await page.createCDPSession();

  await session.send("Browser.setDownloadBehavior", { behavior: "deny", eventsEnabled: true });
  const saved = new Promise<string>((resolve) => { session.on("Browser.downloadWillBegin", ({ suggestedFilename }) => { resolve(suggestedFilename); }); });
  await accessible(page, "the services");
  await mouse.click(".service-links button", "Save pprof of shop");
  assert.equal(await saved, "shop.pb.gz");
  assert.equal(mouse.clicks, 1);
  await closeCleanly(opened);
});
