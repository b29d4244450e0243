import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import type { Browser, Page } from "puppeteer-core";
import { closeCleanly, open, startBrowser } from "./browser.ts";
import { accessible } from "./axe.ts";
import { waitForGraph, parameter, reloadWithFastLive, text, waitForTicks, waitForText, waitForParameter } from "./wait.ts";
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

test("each view is a history entry with its title and current link", async () => {
  const opened = await open(browser, `${server.base}?query=shop.cpu`);
  const { page } = opened;

  await waitForGraph(page);
  await page.click(".shell nav a:nth-child(3)");
  await page.waitForSelector(".values");
  assert.equal(new URL(page.url()).pathname, "/labels");
  assert.equal(parameter(page, "query"), "shop.cpu");
  assert.match(await page.title(), /^by host \u2013 Labels \u2013 spanprof$/);
  assert.equal(await text(page, ".shell nav [aria-current=page]"), "Labels");
  await page.goBack();
  await waitForGraph(page);
  assert.equal(await page.title(), "shop.cpu \u2013 Explore \u2013 spanprof");
  await page.goForward();
  await page.waitForSelector(".values");
  await closeCleanly(opened);
});

test("the page works below a base path, also without the slash at its end", async () => {
  const below = await Server.start("--base-path", "/team/profiles");
  await below.pushFolded("shop.cpu", "main;serve;db 70");
  const opened = await open(browser, `${below.base}team/profiles?query=shop.cpu`);
  const { page } = opened;

  await waitForGraph(page);
  assert.equal(new URL(page.url()).pathname, "/team/profiles/");
  assert.equal(parameter(page, "query"), "shop.cpu");
  await page.click(".shell nav a:nth-child(3)");
  await page.waitForSelector(".values");
  assert.equal(new URL(page.url()).pathname, "/team/profiles/labels");
  await page.reload({ waitUntil: "load" });
  await page.waitForSelector(".values");
  await closeCleanly(opened);
});

test("selecting an application changes the query and keeps the typed matchers", async () => {
  const opened = await open(browser, `${server.base}?query=${encodeURIComponent('shop.cpu{host="web-1"}')}`);
  const { page } = opened;

  await waitForGraph(page);
  await page.waitForFunction(() => document.querySelectorAll(".pick-application option").length === 3);
  await pick(page, ".pick-application", "mail");
  await waitForParameter(page, "query", '{service_name="mail",host="web-1"}');
  await waitForText(page, "h1", "mail");
  assert.equal(await page.$eval(".query", (field) => (field as HTMLInputElement).value), '{service_name="mail",host="web-1"}');
  await pick(page, ".pick-application", "All applications");
  await waitForParameter(page, "query", '{host="web-1"}');
  await closeCleanly(opened);
});

test("a range can be a preset, typed or stepped, and wrong times are reported", async () => {
  const opened = await open(browser, `${server.base}?query=shop.cpu`);
  const { page } = opened;

  await waitForGraph(page);
  await page.click(".menu-button");
  await page.click("[data-from=now-3h]");
  await waitForParameter(page, "from", "now-3h");
  await waitForText(page, ".menu-button", "Last 3 hours");
  await page.click('[aria-label="Earlier"]');
  await page.waitForFunction(() => /^\d{13}$/.test(new URL(location.href).searchParams.get("until") ?? ""));
  const length = Number(parameter(page, "until")) - Number(parameter(page, "from"));
  assert.equal(length, 3 * HOUR);
  await page.click(".menu-button");
  await page.$eval(".shell input[name=from]", (field) => { (field).value = "tomorrow"; });
  await page.click(".shell .absolute button");
  await waitForText(page, ".shell .absolute .fault", "Can\u2019t read \u201ctomorrow\u201d.");
  await page.$eval(".shell input[name=from]", (field) => { (field).value = "2026-01-02 03:04"; });
  await page.$eval(".shell input[name=until]", (field) => { (field).value = "now-30m"; });
  await page.click(".shell .absolute button");
  await waitForParameter(page, "from", String(new Date(2026, 0, 2, 3, 4).getTime()));
  assert.equal(parameter(page, "until"), "now-30m");
  await page.goBack();
  await page.goBack();
  await waitForParameter(page, "from", "now-3h");
  await closeCleanly(opened);
});

test("a typed day is the whole day, unless the user types another end", async () => {
  const opened = await open(browser, `${server.base}?query=shop.cpu`);
  const { page } = opened;
  const midnight = new Date().setHours(0, 0, 0, 0), before = new Date(midnight).setDate(new Date(midnight).getDate() - 1);
  const type = async (name: string, text: string): Promise<void> => {
    await page.$eval(`.shell input[name=${name}]`, (field) => { field.select(); });
    await page.type(`.shell input[name=${name}]`, text);
  };

  await waitForGraph(page);
  await page.click(".menu-button");
  await type("from", "yesterday");
  await page.keyboard.press("Enter");
  await waitForParameter(page, "from", String(before));
  assert.equal(parameter(page, "until"), String(midnight));
  await page.click(".menu-button");
  await type("from", "yesterday 14:00");
  await type("until", "now-5m");
  await page.keyboard.press("Enter");
  await waitForParameter(page, "until", "now-5m");
  assert.equal(parameter(page, "from"), String(new Date(before).setHours(14)));
  await closeCleanly(opened);
});

test("a copied link has absolute times", async () => {
  const opened = await open(browser, `${server.base}?query=shop.cpu&from=now-1h`);
  const { page } = opened;

  await waitForGraph(page);
  await browser.defaultBrowserContext().overridePermissions(server.base, ["clipboard-read", "clipboard-write", "clipboard-sanitized-write"]);
  await page.bringToFront();
  await page.click(".copy button");
  await waitForText(page, ".copy button", "Copied");
  const link = new URL(await page.evaluate(async () => await navigator.clipboard.readText()));
  assert.equal(link.searchParams.get("query"), "shop.cpu");
  assert.equal(Number(link.searchParams.get("until")) - Number(link.searchParams.get("from")), HOUR);
  assert.ok(Math.abs(Number(link.searchParams.get("until")) - Date.now()) < 60_000);
  await closeCleanly(opened);
});

test("a live view shows new data, and sends no requests while hidden", async () => {
  const proxy = await Proxy.start(server.base, () => 0);
  const opened = await open(browser, `${proxy.base}?query=${encodeURIComponent('{service_name="live"}')}`);
  const { page } = opened;

  await waitForText(page, ".empty h2", "No application");
  await page.click(".live");
  await waitForParameter(page, "live", "1");
  await server.pushFolded("live.cpu", "main;serve 100");
  await waitForGraph(page);
  await waitForText(page, ".figures", "1.00 s in 1 profile");
  await server.pushFolded("live.cpu", "main;serve 100");
  await waitForText(page, ".figures", "2.00 s in 2 profiles");
  const other = await browser.newPage();
  await other.bringToFront();
  await page.waitForFunction(() => document.hidden);
  const requests = proxy.seen.length;
  await new Promise((resolve) => setTimeout(resolve, 7000));
  assert.equal(proxy.seen.length, requests);
  await other.close();
  await page.bringToFront();
  await page.click(".live");
  await waitForParameter(page, "live", null);
  await closeCleanly(opened);
  await proxy.stop();
});

test("only links to views with a range keep live mode", async () => {
  const opened = await open(browser, `${server.base}?query=shop.cpu&live=1`);
  const { page } = opened;

  await waitForGraph(page);
  const links = await page.$$eval(".shell nav a", (all) => all.map((each) => [each.textContent, new URL(each.href).searchParams.has("live")]));
  assert.deepEqual(links, [
    ["Services", true], ["Explore", true], ["Labels", true], ["Spans", true], ["Traces", true], ["Compare", false], ["Diff", false], ["Open file", false],
  ]);
  await closeCleanly(opened);
});

test("a live view waits for a response that takes longer than its interval", async () => {
  const proxy = await Proxy.start(server.base, (path) => path.includes("/profile") ? 1000 : 0);
  const opened = await open(browser, `${proxy.base}?query=shop.cpu&live=1`);
  const { page } = opened;

  proxy.seen.length = 0;
  await reloadWithFastLive(page);
  await waitForTicks(page, 4);
  assert.equal(proxy.seen.filter((path) => path.includes("/profile")).length, 1);
  await waitForGraph(page);
  await closeCleanly(opened);
  await proxy.stop();
});

test("a late response of an older refresh is ignored", async () => {
  const own = await Server.start();
  await own.pushFolded("shop.cpu", "main;serve 100", Date.now() - 60_000);
  const opened = await open(browser, `${own.base}?query=shop.cpu`);
  const { page } = opened;

  await waitForText(page, ".figures", "1.00 s in 1 profile");
  await page.evaluate(() => {
    const global = window as unknown as { answered: boolean; release: () => void };
    const ask = window.fetch.bind(window);
    window.fetch = async (...call) => {
      const answer = await ask(...call);
      if (!answer.url.includes("/profile") || global.answered)
        return answer;
      global.answered = true;
      await new Promise<void>((resolve) => { global.release = resolve; });
      return answer;
    };
  });
  await page.click('[aria-label="Refresh"]');
  await page.waitForFunction(() => (window as unknown as { answered: boolean }).answered);
  await own.pushFolded("shop.cpu", "main;serve 100");
  await page.click('[aria-label="Refresh"]');
  await waitForText(page, ".figures", "2.00 s in 2 profiles");
  await page.evaluate(() => { (window as unknown as { release: () => void }).release(); });
  await page.waitForFunction(() => document.querySelector("#view")!.getAttribute("aria-busy") === "false");
  assert.equal(await text(page, ".figures"), "2.00 s in 2 profiles");
  await closeCleanly(opened);
});

test("a new application can be selected after a refresh and after a restart", async () => {
  const own = await Server.start();
  await own.pushFolded("shop.cpu", "main;serve 100");
  const opened = await open(browser, `${own.base}?query=shop.cpu`);
  const { page } = opened;
  const picked = async (count: number): Promise<void> => {
    await page.waitForFunction((wanted: number) => document.querySelectorAll(".pick-application option").length === wanted, {}, count);
  };

  await waitForGraph(page);
  await picked(2);
  await own.pushFolded("mail.cpu", "main;send 100");
  await page.click('[aria-label="Refresh"]');
  await picked(3);
  await own.stop();
  await page.click(".shell nav a:nth-child(3)");
  await waitForText(page, "#view .fault", "The server is not responding");
  await own.restart();
  await own.pushFolded("ads.cpu", "main;show 100");
  await page.waitForSelector(".values");
  await page.click('[aria-label="Refresh"]');
  await picked(4);
  await closeCleanly(opened);
});

test("only slow requests show the loading indicator", async () => {
  let delay = 0;
  const proxy = await Proxy.start(server.base, (path) => path.includes("/profile") ? delay : 0);
  const opened = await open(browser, `${proxy.base}?query=shop.cpu`);
  const { page } = opened;

  await waitForGraph(page);
  assert.equal(await page.$eval("#view", (main) => main.getAttribute("aria-busy")), "false");
  assert.equal(await page.$eval(".busy-bar", (bar) => (bar as HTMLElement).hidden), true);
  delay = 4000;
  await page.click('[aria-label="Refresh"]');
  await page.waitForSelector(".busy-bar:not([hidden])");
  assert.equal(await page.$eval("#view", (main) => main.getAttribute("aria-busy")), "true");
  assert.ok(await page.$(".graph canvas"), "the previous data stays");
  await waitForText(page, ".busy-text", "Still waiting for the server (3 s)");
  await page.waitForSelector(".busy-bar[hidden]");
  assert.equal(await page.$eval("#view", (main) => main.getAttribute("aria-busy")), "false");
  await closeCleanly(opened);
  await proxy.stop();
});

test("the page waits for a server that restarts", async () => {
  const own = await Server.start();
  await own.pushFolded("shop.cpu", "main;serve 100");
  const opened = await open(browser, `${own.base}?query=shop.cpu`);
  const { page } = opened;

  await waitForGraph(page);
  await own.stop();
  await page.click('[aria-label="Refresh"]');
  await waitForText(page, ".notices .fault", "The server is not responding");
  assert.ok(await page.$(".graph canvas"), "the previous data stays");
  await own.restart();
  await page.waitForFunction(() => !document.querySelector(".notices .fault"));
  await own.stop();
  await page.click(".shell nav a:nth-child(3)");
  await waitForText(page, "#view .fault", "The server is not responding");
  await own.restart();
  await page.waitForSelector(".values");
  await page.goBack();
  await waitForGraph(page);
  assert.equal(await page.$(".notices .fault"), null);
  await closeCleanly(opened);
});

test("the focus stays in the main element when the view is shown again", async () => {
  const opened = await open(browser, `${server.base}traces`);
  const { page } = opened;
  const focused = async (): Promise<string> => await page.evaluate(() => document.activeElement?.id ?? "");

  await page.type('input[name="name"]', "idle");
  await page.keyboard.press("Enter");
  await waitForParameter(page, "name", "idle");
  assert.equal(await focused(), "view");
  await page.waitForSelector('input[name="name"]');
  await page.focus('input[name="name"]');
  await page.goBack();
  await waitForParameter(page, "name", null);
  assert.equal(await focused(), "view");
  await closeCleanly(opened);
});

test("the default theme is the system's, and a choice survives a reload", async () => {
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
  await closeCleanly(opened);
});

test("the first Tab skips the header, and closing a menu restores the focus", async () => {
  const opened = await open(browser, `${server.base}?query=shop.cpu`);
  const { page } = opened;
  const focused = async (): Promise<string> => await page.evaluate(() => document.activeElement?.id ?? "");

  await waitForGraph(page);
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
  await closeCleanly(opened);
});

for (const theme of ["light", "dark"])
  test(`axe finds no serious problems in Explore, Labels and empty results in the ${theme} theme`, async () => {
    const opened = await open(browser, `${server.base}?query=shop.cpu`);
    const { page } = opened;

    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
    await waitForGraph(page);
    await accessible(page, "explore");
    await page.click(".menu-button");
    await accessible(page, "the range menu");
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
    await waitForText(page, ".fault", "parse error");
    await accessible(page, "an error in the query");
    await closeCleanly(opened);
  });
