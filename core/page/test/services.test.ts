import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import type { Browser } from "puppeteer-core";
import { changeOf } from "../src/services/change.ts";
import type { WireLabelValue } from "../src/model/wire.ts";
import { accessible } from "./axe.ts";
import { closeCleanly, open, startBrowser } from "./browser.ts";
import { Server } from "./server.ts";
import { pushSpan, spanId } from "./shop.ts";
import { waitForGraph, waitForText, parameter } from "./wait.ts";

const NOW = Date.now();
const DAY = 86_400_000;

let server: Server;
let browser: Browser;

before(async () => {
  server = await Server.start("--ingest-window", "off");
  browser = await startBrowser();
  // Two profiles of "shop" on each day, equal on each, and twice as much CPU time today.
  for (const ageMs of [30_000, 60_000]) {
    await pushSpan(server, { id: spanId(ageMs), name: "GET /cart", stacks: "main;cart 60", untilMs: NOW - ageMs });
    await pushSpan(server, { id: spanId(ageMs + 1), name: "GET /pay", stacks: "main;pay 40", untilMs: NOW - ageMs });
    await pushSpan(server, { id: spanId(ageMs + 2), name: "GET /cart", stacks: "main;cart 50", untilMs: NOW - ageMs - DAY });
  }
  await server.pushFolded("mail.cpu", "main;send 30", NOW - 60_000);
});

after(async () => {
  await browser.close();
});

test("the page of several services lists them with their change and top spans", async () => {
  const opened = await open(browser, server.base);
  const { page } = opened;

  await waitForText(page, ".services .top-spans", "GET /cart");
  assert.equal(new URL(page.url()).pathname, "/services");
  const rows = await page.$$eval(".services tbody tr", (all) => all.map((row) => [...row.children].map((cell) => (cell as HTMLElement).innerText.trim().replace(/\s+/g, " "))));
  assert.deepEqual(rows.map(([name, total, share]) => [name, total, share]), [
    ["shop Spans Traces Labels Save pprof", "2.00 s", "87.0 %"], ["mail Spans Traces Labels Save pprof", "300 ms", "13.0 %"]]);
  assert.equal(rows[1]![3], "new");
  assert.equal(rows[0]![4], "GET /cart 1.20 s GET /pay 800 ms");
  await accessible(page, "the services");
  await page.click(".services tbody th a");
  await waitForGraph(page);
  assert.equal(parameter(page, "query"), '{service_name="shop"}');
  await page.goBack();
  await waitForText(page, ".services .top-spans", "GET /pay");
  await page.click(".services .top-spans li:nth-child(2) a");
  await waitForText(page, "#of-name", "CPU of GET /pay");
  assert.equal(new URL(page.url()).pathname, "/spans");
  assert.equal(parameter(page, "spanName"), "GET /pay");
  await closeCleanly(opened);
});

test("the page of one service opens its flame graph", async () => {
  const single = await Server.start();
  await single.pushFolded("shop.cpu", "main;work 100");
  const opened = await open(browser, single.base);

  await waitForGraph(opened.page);
  assert.equal(new URL(opened.page.url()).pathname, "/");
  await closeCleanly(opened);
});

test("a change since yesterday is noise unless the averages differ by more than chance explains", () => {
  const of = (average: number, deviation: number, profiles: number): WireLabelValue =>
    ({ value: "shop", total: average * profiles, share: 1, profiles, average, deviation });

  assert.deepEqual(changeOf(of(200, 10, 100), of(100, 10, 100)), { text: "+100.0 %", isNoise: false });
  assert.deepEqual(changeOf(of(50, 10, 100), of(100, 10, 100)), { text: "\u221250.0 %", isNoise: false });
  assert.deepEqual(changeOf(of(105, 50, 9), of(100, 50, 9)), { text: "+5.0 %", isNoise: true });
  assert.deepEqual(changeOf(of(200, 0, 1), of(100, 0, 1)), { text: "+100.0 %", isNoise: true });
  assert.deepEqual(changeOf(of(200, 10, 100), undefined), { text: "new", isNoise: false });
});
