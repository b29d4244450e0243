/** Tests how new results of a view replace the old ones. The tests read the page with
 * page.mainFrame(), whose functions do not wait for the new results. */
import { after, test } from "node:test";
import assert from "node:assert/strict";
import type { Frame } from "puppeteer-core";
import { closeCleanly, type Opened } from "./browser.ts";
import { typeQuery, useServer } from "./fixtures.ts";
import { waitForGraph, waitForText } from "./wait.ts";
import { Proxy } from "./proxy.ts";

const OLD = "#view > [inert]";
let proxy: Proxy;
let delay = 0;

const served = useServer(async (server) => {
  await server.pushFolded("shop.cpu", "main;serve;db 70\nmain;serve;render 30");
  await server.pushFolded("mail.cpu", "main;send 10");
  proxy = await Proxy.start(server.base, (path) => path.includes("/profile") ? delay : 0);
});

after(async () => {
  await proxy.stop();
});

/** Opens Explore and records all texts of its live regions. */
async function openExplore(): Promise<Opened> {
  delay = 0;
  const opened = await served.at("?query=shop.cpu", proxy.base);

  await waitForGraph(opened.page);
  await waitForText(opened.page, ".figures", "1.00 s in 1 profile");
  await opened.page.evaluate(() => {
    const spoken: string[] = [];
    Object.assign(window, { spoken });
    new MutationObserver(() => {
      for (const region of document.querySelectorAll("[role=status], [role=alert], [aria-live]"))
        if (region.textContent !== "" && spoken[spoken.length - 1] !== region.textContent && region.closest("[inert]") === null)
          spoken.push(region.textContent);
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  return opened;
}

async function run({ page }: Opened, query: string): Promise<Frame> {
  await typeQuery(page, query);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Enter");
  return page.mainFrame();
}

async function spoken(frame: Frame): Promise<string[]> {
  return await frame.evaluate(() => (window as unknown as { spoken: string[] }).spoken);
}

test("old results stay dimmed and inert until the new ones have arrived", async () => {
  const opened = await openExplore();

  delay = 1500;
  const frame = await run(opened, "mail.cpu");
  await frame.waitForSelector(OLD);
  await frame.waitForFunction((old) => getComputedStyle(document.querySelector(old)!).opacity === "0.5", {}, OLD);
  assert.deepEqual(await frame.evaluate((selector) => {
    const old = document.querySelector<HTMLElement>(selector)!;
    const next = old.previousElementSibling!;
    const graph = old.querySelector<HTMLCanvasElement>(".flame-canvas[style]")!;
    const box = graph.getBoundingClientRect();
    return {
      figures: old.querySelector(".figures")!.textContent, isBusy: [old.ariaBusy, old.parentElement!.ariaBusy], isDrawn: box.width > 400 && box.height >= 60,
      timelines: old.querySelectorAll(".timeline-plot canvas").length, next: getComputedStyle(next).opacity, isBelow: next.getBoundingClientRect().top === old.getBoundingClientRect().top,
      pointed: document.elementFromPoint(box.left + 10, box.top + 10)?.closest(".view"), focus: document.activeElement?.className,
    };
  }, OLD), { figures: "1.00 s in 1 profile", isBusy: ["true", "true"], isDrawn: true, timelines: 1, next: "0", isBelow: true, pointed: null, focus: "query" });
  await frame.waitForFunction((old) => !document.querySelector(old), {}, OLD);
  assert.equal(await frame.$eval(".figures", (element) => element.textContent), "100 ms in 1 profile");
  assert.equal((await frame.$$(".view")).length, 1);
  assert.equal(await frame.$eval(".view", (view) => getComputedStyle(view).opacity), "1");
  assert.deepEqual(await spoken(frame), ["New results are shown."]);
  await closeCleanly(opened);
});

test("the results of the last of several changes replace the first ones", async () => {
  const opened = await openExplore();

  delay = 1000;
  const frame = await run(opened, "mail.cpu");
  await frame.waitForSelector(OLD);
  await opened.page.keyboard.type(" ");
  await opened.page.mainFrame().evaluate(() => { history.back(); });
  await frame.waitForFunction(() => location.search.includes("shop"));
  assert.equal((await frame.$$(".view")).length, 2);
  await frame.waitForFunction((old) => !document.querySelector(old), {}, OLD);
  assert.equal(await frame.$eval(".figures", (element) => element.textContent), "1.00 s in 1 profile");
  assert.deepEqual(await spoken(frame), ["New results are shown."]);
  await closeCleanly(opened);
});

test("an error replaces the dimmed results", async () => {
  const opened = await openExplore();
  const frame = await run(opened, "mail.cpu{host");

  await frame.waitForSelector("#view .fault.notice");
  assert.equal(await frame.$(OLD), null);
  assert.equal((await spoken(frame)).length, 1);
  assert.doesNotMatch((await spoken(frame))[0]!, /New results/);
  await closeCleanly(opened);
});

test("a broken connection shows its error instead of dimmed results, and then the new ones", async () => {
  const opened = await openExplore();

  delay = Infinity;
  const frame = await run(opened, "mail.cpu");
  await frame.waitForFunction(() => document.querySelector("#view .fault.notice")?.textContent.includes("Retrying"));
  assert.equal(await frame.$(OLD), null);
  delay = 0;
  await waitForText(opened.page, ".figures", "100 ms in 1 profile");
  await closeCleanly(opened);
});

test("another view does not show the old results, and nothing moves if the user prefers that", async () => {
  const opened = await openExplore();
  const { page } = opened;
  const frame = page.mainFrame();

  delay = 1500;
  await page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "reduce" }]);
  await run(opened, "mail.cpu");
  await frame.waitForSelector(OLD);
  assert.equal(await frame.$eval(OLD, (old) => `${getComputedStyle(old).opacity} ${getComputedStyle(old).transitionDuration}`), "0.5 0s");
  await frame.click(".shell nav a:nth-child(3)");
  assert.equal(await frame.$(OLD), null);
  assert.equal((await frame.$$(".view")).length, 1);
  await closeCleanly(opened);
});
