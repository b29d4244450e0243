import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import type { Browser } from "puppeteer-core";
import { distance, nearest } from "../src/explore/nearest.ts";
import { closeCleanly, open, startBrowser } from "./browser.ts";
import { waitForGraph, parameter, text, waitForText } from "./wait.ts";
import { Server } from "./server.ts";

const NOW = Date.now();
const HOUR = 3_600_000;

let server: Server;
let browser: Browser;

before(async () => {
  server = await Server.start("--ingest-window", "off");
  browser = await startBrowser();
  await server.pushFolded("checkout.cpu{host=web-1,env=prod}", "main;work 100", NOW - 5 * HOUR);
  await server.pushFolded("checkout.cpu{host=web-2,env=test}", "main;work 100", NOW - 60_000);
  await server.pushFolded("mail.cpu", "main;send 100", NOW - 60_000);
});

after(async () => {
  await browser.close();
});

test("an unknown application is reported with similar names", async () => {
  const opened = await open(browser, `${server.base}?query=chekout.cpu`);
  const { page } = opened;

  await waitForText(page, ".empty h2", "No application named \u201cchekout\u201d");
  assert.equal(await text(page, ".empty li"), "checkout");
  await page.click(".empty li a");
  await waitForGraph(page);
  assert.equal(parameter(page, "query"), '{service_name="checkout"}');
  await closeCleanly(opened);
});

test("an empty range is reported with buttons for the nearest data", async () => {
  const opened = await open(browser, `${server.base}?query=checkout.cpu&from=${NOW - 3 * HOUR}&until=${NOW - 2 * HOUR}`);
  const { page } = opened;

  await waitForText(page, ".empty h2", "No data from");
  assert.equal((await page.$$(".empty button")).length, 2);
  await page.click(".empty button");
  await waitForGraph(page);
  assert.ok(Number(parameter(page, "from")) < NOW - 5 * HOUR && Number(parameter(page, "until")) > NOW - 5 * HOUR);
  await page.goBack();
  await waitForText(page, ".empty h2", "No data from");
  await closeCleanly(opened);
});

test("a matcher that never matches is named, with similar values", async () => {
  const opened = await open(browser, `${server.base}?query=${encodeURIComponent('checkout.cpu{env="test",host="web-22"}')}`);
  const { page } = opened;

  await waitForText(page, ".empty h2", 'No profiles match host="web-22"');
  assert.deepEqual(await page.$$eval(".empty li", (all) => all.map((each) => each.textContent)), ["Remove this matcher", 'host="web-2"']);
  await (await page.$$(".empty li a"))[1]!.click();
  await waitForGraph(page);
  assert.equal(parameter(page, "query"), 'checkout.cpu{env="test",host="web-2"}');
  await closeCleanly(opened);
});

test("matchers that match only alone are reported as a combination", async () => {
  const opened = await open(browser, `${server.base}?query=${encodeURIComponent('{service_name="mail",host="web-2"}')}`);
  const { page } = opened;

  await waitForText(page, ".empty h2", 'No profiles match host="web-2" together with the other matchers');
  assert.deepEqual(await page.$$eval(".empty li", (all) => all.map((each) => each.textContent)), ['Remove service_name="mail"', 'Remove host="web-2"']);
  await page.click(".empty li a");
  await waitForGraph(page);
  assert.equal(parameter(page, "query"), '{host="web-2"}');
  await closeCleanly(opened);
});

test("several matchers without matches are reported together", async () => {
  const opened = await open(browser, `${server.base}?query=${encodeURIComponent('checkout.cpu{env="no",host="no"}')}`);

  await waitForText(opened.page, ".empty h2", "No profiles match these label matchers");
  await closeCleanly(opened);
});

test("a type that the application does not have is reported with its types", async () => {
  const opened = await open(browser, `${server.base}?query=mail.cpu&type=${encodeURIComponent("memory:inuse_space:bytes:space:bytes")}`);
  const { page } = opened;

  await waitForText(page, ".empty h2", "has no profiles of type inuse_space (memory)");
  await page.click(".empty li a");
  await waitForGraph(page);
  await closeCleanly(opened);
});

test("an unknown type is reported with the existing types", async () => {
  const type = encodeURIComponent("nosuch:a:b:c:d");
  const opened = await open(browser, `${server.base}?type=${type}`);
  const { page } = opened;

  for (const address of [`?type=${type}`, `?type=${type}&query=%7B%7D`, "?query=nosuch:a:b:c:d%7B%7D"]) {
    await page.goto(server.base + address);
    await waitForText(page, ".empty h2", "No application has profiles of type a (nosuch)");
    assert.deepEqual(await page.$$eval(".empty li", (all) => all.map((each) => each.textContent)), ["cpu"]);
  }
  await page.click(".empty li a");
  await waitForGraph(page);
  await closeCleanly(opened);
});

test("an empty server shows how to send profiles to its address", async () => {
  const bare = await Server.start();
  const opened = await open(browser, bare.base);
  const { page } = opened;

  await waitForText(page, ".start h2", "no profiles yet");
  assert.equal((await page.$$(".snippet")).length, 4);
  for (const code of await page.$$eval(".snippet pre", (all) => all.map((each) => each.textContent)))
    assert.ok(code.includes(bare.base.replace(/\/$/, "")), code);
  await browser.defaultBrowserContext().overridePermissions(bare.base, ["clipboard-read", "clipboard-write", "clipboard-sanitized-write"]);
  await page.bringToFront();
  await page.click(".snippet button");
  await waitForText(page, ".snippet button", "Copied");
  assert.match(await page.evaluate(async () => await navigator.clipboard.readText()), /spanprof exec -- /);
  await page.goto(`${bare.base}?query=shop.cpu`);
  await waitForText(page, ".start h2", "no profiles yet");
  await closeCleanly(opened);
});

test("a snippet can be copied without TLS", async () => {
  const bare = await Server.start();
  const opened = await open(browser, bare.base);
  const { page } = opened;

  await page.evaluateOnNewDocument(() => {
    Object.defineProperty(window, "isSecureContext", { value: false });
    Object.defineProperty(navigator, "clipboard", { value: undefined });
  });
  await page.reload();
  await page.bringToFront();
  await page.waitForSelector(".snippet button");
  await page.click(".snippet button");
  await waitForText(page, ".snippet button", "Copied");
  await closeCleanly(opened);
});

test("similar names are sorted by edit distance", () => {
  assert.equal(distance("kitten", "sitting"), 3);
  assert.equal(distance("", "abc"), 3);
  assert.deepEqual(nearest("shp", ["mail", "shop", "ship-yard"], 2), ["shop", "mail"]);
  assert.deepEqual(nearest("x".repeat(100_000), ["y".repeat(100_000), "x"], 1), ["x"]);
});

test("the page of an empty server shows the first profiles when they arrive", async () => {
  const first = await Server.start();
  const opened = await open(browser, first.base);

  await waitForText(opened.page, ".start h2", "This server has no profiles yet");
  await first.pushFolded("first.cpu", "main;work 100");
  await waitForGraph(opened.page);
  await waitForText(opened.page, "h1", "first");
  await opened.page.goto(`${first.base}spans`);
  await closeCleanly(opened);
  await first.stop();
});

test("the timeline stays if the query is too large", async () => {
  const opened = await open(browser, `${server.base}?query=mail.cpu`);
  const { page } = opened;

  await waitForGraph(page);
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    if (new URL(request.url()).pathname.endsWith("/profile"))
      void request.respond({ status: 429, contentType: "application/problem+json", body: JSON.stringify({ status: 429, detail: "too much" }) });
    else
      void request.continue();
  });
  await page.reload();
  await waitForText(page, ".graph .fault", "too much");
  await page.waitForSelector(".timeline canvas");
  assert.equal(await page.$eval("h1", (heading) => heading.textContent), "mail \u2013 cpu");
  opened.page.removeAllListeners("request");
});
