import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import type { Browser, Page } from "puppeteer-core";
import { fine, open, startBrowser } from "./browser.ts";
import { accessible } from "./axe.ts";
import { drawn, parameter, quickly, text, ticks, until, untilParameter } from "./look.ts";
import { Proxy } from "./proxy.ts";
import { Server } from "./server.ts";

const HOUR = 3_600_000;

let server: Server;
let browser: Browser;

before(async () => {
  server = await Server.start();
  browser = await startBrowser();
  for (const host of ["web-1", "web-2"])
    await server.pushFolded(`shop.cpu{host=${host}}`, "main;serve;db 70\nmain;serve;render 30");
  await server.pushFolded("mail.cpu{host=web-1}", "main;send 10");
});

after(async () => {
  await browser.close();
});

async function pick(page: Page, selector: string, option: string): Promise<void> {
  const value = await page.$$eval(`${selector} option`, (all, wanted) => all.find((each) => each.textContent === wanted)?.value ?? "", option);

  await page.select(selector, value);
}

test("views are steps of the history, each with its title and its link marked", async () => {
  const opened = await open(browser, `${server.base}?query=shop.cpu`);
  const { page } = opened;

  await drawn(page);
  await page.click(".shell nav a:nth-child(2)");
  await page.waitForSelector(".values");
  assert.equal(new URL(page.url()).pathname, "/labels");
  assert.equal(parameter(page, "query"), "shop.cpu");
  assert.match(await page.title(), /^by host \u2013 Labels \u2013 spanprof$/);
  assert.equal(await text(page, ".shell nav [aria-current=page]"), "Labels");
  await page.goBack();
  await drawn(page);
  assert.equal(await page.title(), "shop.cpu \u2013 Explore \u2013 spanprof");
  await page.goForward();
  await page.waitForSelector(".values");
  await fine(opened);
});

test("a picked application becomes the query's, with the typed matchers", async () => {
  const opened = await open(browser, `${server.base}?query=${encodeURIComponent('shop.cpu{host="web-1"}')}`);
  const { page } = opened;

  await drawn(page);
  await page.waitForFunction(() => document.querySelectorAll(".pick-application option").length === 3);
  await pick(page, ".pick-application", "mail");
  await untilParameter(page, "query", '{service_name="mail",host="web-1"}');
  await until(page, "h1", "mail");
  assert.equal(await page.$eval(".query", (field) => (field as HTMLInputElement).value), '{service_name="mail",host="web-1"}');
  await pick(page, ".pick-application", "All applications");
  await untilParameter(page, "query", '{host="web-1"}');
  await fine(opened);
});

test("ranges: presets, typed times, steps, and what is no time", async () => {
  const opened = await open(browser, `${server.base}?query=shop.cpu`);
  const { page } = opened;

  await drawn(page);
  await page.click(".menu-button");
  await page.click("[data-from=now-3h]");
  await untilParameter(page, "from", "now-3h");
  await until(page, ".menu-button", "Last 3 hours");
  await page.click('[aria-label="Earlier"]');
  await page.waitForFunction(() => /^\d{13}$/.test(new URL(location.href).searchParams.get("until") ?? ""));
  const length = Number(parameter(page, "until")) - Number(parameter(page, "from"));
  assert.equal(length, 3 * HOUR);
  await page.click(".menu-button");
  await page.$eval(".shell input[name=from]", (field) => { (field).value = "yesterday"; });
  await page.click(".shell .absolute button");
  await until(page, ".shell .absolute .fault", "\u201cyesterday\u201d is no time.");
  await page.$eval(".shell input[name=from]", (field) => { (field).value = "2026-01-02 03:04"; });
  await page.$eval(".shell input[name=until]", (field) => { (field).value = "now-30m"; });
  await page.click(".shell .absolute button");
  await untilParameter(page, "from", String(new Date(2026, 0, 2, 3, 4).getTime()));
  assert.equal(parameter(page, "until"), "now-30m");
  await page.goBack();
  await page.goBack();
  await untilParameter(page, "from", "now-3h");
  await fine(opened);
});

test("a copied link has absolute times", async () => {
  const opened = await open(browser, `${server.base}?query=shop.cpu&from=now-1h`);
  const { page } = opened;

  await drawn(page);
  await browser.defaultBrowserContext().overridePermissions(server.base, ["clipboard-read", "clipboard-write", "clipboard-sanitized-write"]);
  await page.bringToFront();
  await page.click(".copy button");
  await until(page, ".copy button", "Copied");
  const link = new URL(await page.evaluate(async () => await navigator.clipboard.readText()));
  assert.equal(link.searchParams.get("query"), "shop.cpu");
  assert.equal(Number(link.searchParams.get("until")) - Number(link.searchParams.get("from")), HOUR);
  assert.ok(Math.abs(Number(link.searchParams.get("until")) - Date.now()) < 60_000);
  await fine(opened);
});

test("a live view shows what comes, and asks nothing while it is hidden", async () => {
  const proxy = await Proxy.start(server.base, () => 0);
  const opened = await open(browser, `${proxy.base}?query=${encodeURIComponent('{service_name="live"}')}`);
  const { page } = opened;

  await until(page, ".empty h2", "no application");
  await page.click(".live");
  await untilParameter(page, "live", "1");
  await server.pushFolded("live.cpu", "main;serve 100");
  await drawn(page);
  await until(page, ".figures", "1.00 s in 1 profile");
  await server.pushFolded("live.cpu", "main;serve 100");
  await until(page, ".figures", "2.00 s in 2 profiles");
  const other = await browser.newPage();
  await other.bringToFront();
  await page.waitForFunction(() => document.hidden);
  const asked = proxy.seen.length;
  await new Promise((resolve) => setTimeout(resolve, 7000));
  assert.equal(proxy.seen.length, asked);
  await other.close();
  await page.bringToFront();
  await page.click(".live");
  await untilParameter(page, "live", null);
  await fine(opened);
  await proxy.stop();
});

test("live goes along to views of a range, and to no other", async () => {
  const opened = await open(browser, `${server.base}?query=shop.cpu&live=1`);
  const { page } = opened;

  await drawn(page);
  const links = await page.$$eval(".shell nav a", (all) => all.map((each) => [each.textContent, new URL(each.href).searchParams.has("live")]));
  assert.deepEqual(links, [
    ["Explore", true], ["Labels", true], ["Spans", true], ["Traces", true], ["Compare", false], ["Diff", false], ["Open file", false],
  ]);
  await fine(opened);
});

test("an answer that takes longer than a live view's pause is waited for", async () => {
  const proxy = await Proxy.start(server.base, (path) => path.includes("/profile") ? 1000 : 0);
  const opened = await open(browser, `${proxy.base}?query=shop.cpu&live=1`);
  const { page } = opened;

  proxy.seen.length = 0;
  await quickly(page);
  await ticks(page, 4);
  assert.equal(proxy.seen.filter((path) => path.includes("/profile")).length, 1);
  await drawn(page);
  await fine(opened);
  await proxy.stop();
});

test("of two looks the newer answer stays, though the older comes after it", async () => {
  const own = await Server.start();
  await own.pushFolded("shop.cpu", "main;serve 100", Date.now() - 60_000);
  const opened = await open(browser, `${own.base}?query=shop.cpu`);
  const { page } = opened;

  await until(page, ".figures", "1.00 s in 1 profile");
  await page.evaluate(() => {
    const held = window as unknown as { answered: boolean; release: () => void };
    const ask = window.fetch.bind(window);
    window.fetch = async (...call) => {
      const answer = await ask(...call);
      if (!answer.url.includes("/profile") || held.answered)
        return answer;
      held.answered = true;
      await new Promise<void>((resolve) => { held.release = resolve; });
      return answer;
    };
  });
  await page.click('[aria-label="Look again"]');
  await page.waitForFunction(() => (window as unknown as { answered: boolean }).answered);
  await own.pushFolded("shop.cpu", "main;serve 100");
  await page.click('[aria-label="Look again"]');
  await until(page, ".figures", "2.00 s in 2 profiles");
  await page.evaluate(() => { (window as unknown as { release: () => void }).release(); });
  await page.waitForFunction(() => document.querySelector("#view")!.getAttribute("aria-busy") === "false");
  assert.equal(await text(page, ".figures"), "2.00 s in 2 profiles");
  await fine(opened);
});

test("an application that came meanwhile can be picked after a look, and after a restart", async () => {
  const own = await Server.start();
  await own.pushFolded("shop.cpu", "main;serve 100");
  const opened = await open(browser, `${own.base}?query=shop.cpu`);
  const { page } = opened;
  const picked = async (count: number): Promise<void> => {
    await page.waitForFunction((wanted: number) => document.querySelectorAll(".pick-application option").length === wanted, {}, count);
  };

  await drawn(page);
  await picked(2);
  await own.pushFolded("mail.cpu", "main;send 100");
  await page.click('[aria-label="Look again"]');
  await picked(3);
  await own.stop();
  await page.click(".shell nav a:nth-child(2)");
  await until(page, "#view .fault", "The server does not answer");
  await own.restart();
  await own.pushFolded("ads.cpu", "main;show 100");
  await page.waitForSelector(".values");
  await page.click('[aria-label="Look again"]');
  await picked(4);
  await fine(opened);
});

test("a slow answer is waited for visibly, and a quick one is not", async () => {
  let delay = 0;
  const proxy = await Proxy.start(server.base, (path) => path.includes("/profile") ? delay : 0);
  const opened = await open(browser, `${proxy.base}?query=shop.cpu`);
  const { page } = opened;

  await drawn(page);
  assert.equal(await page.$eval("#view", (main) => main.getAttribute("aria-busy")), "false");
  assert.equal(await page.$eval(".busy-bar", (bar) => (bar as HTMLElement).hidden), true);
  delay = 4000;
  await page.click('[aria-label="Look again"]');
  await page.waitForSelector(".busy-bar:not([hidden])");
  assert.equal(await page.$eval("#view", (main) => main.getAttribute("aria-busy")), "true");
  assert.ok(await page.$(".graph canvas"), "what is known stays");
  await until(page, ".busy-text", "The server has been asked 3 s ago.");
  await page.waitForSelector(".busy-bar[hidden]");
  assert.equal(await page.$eval("#view", (main) => main.getAttribute("aria-busy")), "false");
  await fine(opened);
  await proxy.stop();
});

test("a server that restarts under the page is waited for", async () => {
  const own = await Server.start();
  await own.pushFolded("shop.cpu", "main;serve 100");
  const opened = await open(browser, `${own.base}?query=shop.cpu`);
  const { page } = opened;

  await drawn(page);
  await own.stop();
  await page.click('[aria-label="Look again"]');
  await until(page, ".notices .fault", "The server does not answer");
  assert.ok(await page.$(".graph canvas"), "what is known stays");
  await own.restart();
  await page.waitForFunction(() => !document.querySelector(".notices .fault"));
  await own.stop();
  await page.click(".shell nav a:nth-child(2)");
  await until(page, "#view .fault", "The server does not answer");
  await own.restart();
  await page.waitForSelector(".values");
  await page.goBack();
  await drawn(page);
  assert.equal(await page.$(".notices .fault"), null);
  await fine(opened);
});

test("the focus stays in what is shown when it is shown anew", async () => {
  const opened = await open(browser, `${server.base}traces`);
  const { page } = opened;
  const focused = async (): Promise<string> => await page.evaluate(() => document.activeElement?.id ?? "");

  await page.type('input[name="service"]', "shop");
  await page.keyboard.press("Enter");
  await untilParameter(page, "service", "shop");
  assert.equal(await focused(), "view");
  await page.waitForSelector('input[name="service"]');
  await page.focus('input[name="service"]');
  await page.goBack();
  await untilParameter(page, "service", null);
  assert.equal(await focused(), "view");
  await fine(opened);
});

test("the theme is the system's until another is chosen, which is kept", async () => {
  const opened = await open(browser, `${server.base}?query=shop.cpu`);
  const { page } = opened;
  const background = async (): Promise<string> => await page.evaluate(() => getComputedStyle(document.body).backgroundColor);

  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
  const light = await background();
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
  assert.notEqual(await background(), light);
  await page.select('[aria-label="Theme"]', "light");
  assert.equal(await background(), light);
  await page.reload();
  assert.equal(await background(), light);
  await page.select('[aria-label="Theme"]', "system");
  await fine(opened);
});

test("by keyboard: the first key skips the head, menus close and give the focus back", async () => {
  const opened = await open(browser, `${server.base}?query=shop.cpu`);
  const { page } = opened;
  const focused = async (): Promise<string> => await page.evaluate(() => document.activeElement?.id ?? "");

  await drawn(page);
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement?.className), "skip");
  await page.keyboard.press("Enter");
  assert.equal(await focused(), "view");
  await page.focus(".menu-button");
  await page.keyboard.press("Enter");
  assert.equal(await page.$eval(".menu-button", (button) => button.getAttribute("aria-expanded")), "true");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => document.activeElement?.className), "menu-button");
  assert.equal(await page.$eval(".menu-content", (menu) => (menu as HTMLElement).hidden), true);
  await fine(opened);
});

for (const theme of ["light", "dark"])
  test(`nothing of the shell, exploring, labels and empty results is hard to use in ${theme}`, async () => {
    const opened = await open(browser, `${server.base}?query=shop.cpu`);
    const { page } = opened;

    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
    await drawn(page);
    await accessible(page, "explore");
    await page.click(".menu-button");
    await accessible(page, "the menu of ranges");
    await page.keyboard.press("Escape");
    await page.focus(".query");
    await page.keyboard.type("{");
    await page.waitForSelector(".options li");
    await page.keyboard.press("ArrowDown");
    await accessible(page, "completion");
    await page.goto(`${server.base}labels?query=shop.cpu`);
    await page.waitForSelector("[data-drawn]");
    await accessible(page, "labels");
    await page.goto(`${server.base}?query=shp.cpu`);
    await page.waitForSelector(".empty");
    await accessible(page, "an empty result");
    await page.goto(`${server.base}?query=${encodeURIComponent("{x")}`);
    await until(page, ".fault", "parse error");
    await accessible(page, "a fault in the query");
    await fine(opened);
  });
