import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import type { Browser, Page } from "puppeteer-core";
import { safeText } from "../src/parts/dom.ts";
import { closeCleanly, open, startBrowser } from "./browser.ts";
import { waitForGraph, text, waitForText } from "./wait.ts";
import { Server } from "./server.ts";

const MARKUP = "<img src=x onerror=alert(1)>";
const BIDI = "\u202egnp.exe\u2066";
const TYPE = `type=${encodeURIComponent("cpu:cpu:nanoseconds:cpu:nanoseconds")}`;
const LONG = "z".repeat(100_000);

let server: Server;
let browser: Browser;

/** Sends a profile by OTLP, which allows any label value, unlike /ingest. */
async function pushOtlp(service: string, attributes: Record<string, string>, functionName: string): Promise<void> {
  const now = Date.now();
  const pairs = Object.entries({ "service.name": service, ...attributes })
    .map(([key, value]) => ({ key, value: { stringValue: value } }));
  const strings = ["", "cpu", "nanoseconds", functionName, "file"];

  await server.send("v1development/profiles", JSON.stringify({
    dictionary: {
      mappingTable: [{}], linkTable: [{}], attributeTable: [{}], stringTable: strings,
      functionTable: [{}, { nameStrindex: 3, systemNameStrindex: 3, filenameStrindex: 4 }],
      locationTable: [{}, { lines: [{ functionIndex: 1, line: "1" }] }],
      stackTable: [{}, { locationIndices: [1] }],
    },
    resourceProfiles: [{
      resource: { attributes: pairs },
      scopeProfiles: [{ profiles: [{
        sampleType: { typeStrindex: 1, unitStrindex: 2 }, periodType: { typeStrindex: 1, unitStrindex: 2 }, period: "10000000",
        timeUnixNano: `${now - 10_000}000000`, durationNano: "10000000000", profileId: Buffer.from(String(now).padStart(16, "0")).toString("base64"),
        samples: [{ stackIndex: 1, values: ["1000000000"], timestampsUnixNano: [] }],
      }] }],
    }],
  }), "application/json");
}

before(async () => {
  server = await Server.start();
  browser = await startBrowser();
  await pushOtlp(MARKUP, { host: `${MARKUP}"\\` }, MARKUP);
  await pushOtlp(`${BIDI} shop`, { host: BIDI }, LONG);
});

after(async () => {
  await browser.close();
});

async function harmless(page: Page): Promise<void> {
  const shown = await text(page, "body");

  assert.equal((await page.$$("img, iframe, object")).length, 0);
  assert.doesNotMatch(shown, /[\u202a-\u202e\u2066-\u2069]/);
  const width = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(width <= 0, `${width} px too wide`);
}

test("hostile names and values are shown as text", async () => {
  const opened = await open(browser, server.base);
  const { page } = opened;
  const services = (await (await fetch(`${server.base}api/v1/applications`)).json() as { applications: { name: string }[] }).applications;

  assert.equal(services.length, 2);
  for (const { name } of services) {
    const query = `{service_name=${JSON.stringify(name)}}`;
    await page.goto(`${server.base}?${TYPE}&query=${encodeURIComponent(query)}`);
    await waitForGraph(page);
    await harmless(page);
    await page.goto(`${server.base}labels?${TYPE}&query=${encodeURIComponent(query)}&label=host`);
    await page.waitForSelector("[data-drawn]");
    await harmless(page);
    await page.click(".card");
    await waitForText(page, ".figures", "1.00 s in 1 profile");
    await harmless(page);
  }
  await closeCleanly(opened);
});

test("completed values with quotes match", async () => {
  const opened = await open(browser, `${server.base}?${TYPE}&query=${encodeURIComponent(`{service_name=${JSON.stringify(MARKUP)}}`)}`);
  const { page } = opened;

  await waitForGraph(page);
  await page.focus(".query");
  await page.$eval(".query", (field) => { (field as HTMLInputElement).select(); });
  await page.keyboard.type("{host=");
  await waitForText(page, ".options [role=option]", MARKUP);
  await harmless(page);
  await page.keyboard.type('"<');
  await page.waitForFunction(() => document.querySelectorAll(".options [role=option]").length === 1);
  await page.keyboard.press("Enter");
  await page.keyboard.type("}");
  await page.keyboard.press("Enter");
  await waitForText(page, ".figures", "1.00 s in 1 profile");
  await closeCleanly(opened);
});

test("hostile text in the address is harmless", async () => {
  const opened = await open(browser, `${server.base}?${TYPE}&query=${encodeURIComponent(`shop.cpu{a="${BIDI}${MARKUP}"}`)}&from=${encodeURIComponent(MARKUP)}`);
  const { page } = opened;

  await waitForText(page, ".fault", "Can't read");
  await harmless(page);
  await page.goto(`${server.base}?${TYPE}&query=${encodeURIComponent(`{a="${MARKUP}${BIDI}"}`)}&label=${encodeURIComponent(MARKUP)}`);
  await waitForText(page, ".empty h2", MARKUP);
  await harmless(page);
  await page.focus(".query");
  await page.$eval(".query", (field, long) => { (field as HTMLInputElement).value = `{a="${long}"}`; }, LONG);
  await page.keyboard.press("Enter");
  await page.waitForSelector(".fault, .empty");
  await harmless(page);
  await closeCleanly(opened);
});

test("a search for a long name keeps the address short", async () => {
  const name = "y".repeat(60_000);
  await server.pushFolded("before.cpu", "main;work 10");
  await server.pushFolded("after.cpu", `main;work 10\nmain;${name} 50`);
  const opened = await open(browser, `${server.base}comparison-diff?leftQuery=before.cpu&rightQuery=after.cpu`);
  const { page } = opened;

  // Not a click at a position: the columns may still change their widths.
  await (await page.waitForSelector('button[aria-label^="Find yyy"]'))!.evaluate((button) => { (button as HTMLElement).click(); });
  await page.waitForFunction(() => new URL(location.href).searchParams.get("search") !== null);
  assert.ok(page.url().length < 2000, String(page.url().length));
  await waitForText(page, ".flame-found", "%");
  await closeCleanly(opened);
});

test("emoji, flags and accents stay whole, and other invisible characters are visible", () => {
  const family = "\u{1f468}\u{1f3fd}\u200d\u{1f469}\u200d\u{1f467}", heart = "\u2764\ufe0f\u200d\u{1f525}", flag = "\u{1f1f3}\u{1f1f5}";
  const scotland = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}", accent = "e\u0301";

  for (const whole of [family, heart, flag, scotland, accent]) {
    assert.equal(safeText(`a ${whole} b`), `a ${whole} b`);
    // Wherever the text is cut, the character is whole or missing.
    for (let length = 1; length < whole.length + 6; length++)
      assert.ok([`ab${whole}cd`, `ab${whole}c\u2026`, `ab${whole}\u2026`, "ab\u2026", "a\u2026", "\u2026"].includes(safeText(`ab${whole}cd`, length)), `${whole} ${length}`);
  }
  assert.equal(safeText(`${flag}${flag}`, 6), `${flag}\u2026`);
  assert.equal(safeText("a\u200db\u200d \u200b\u202e\u0007"), "a\ufffdb\ufffd \ufffd\ufffd\ufffd");
  assert.equal(safeText("x".repeat(10), 5), "xxxx\u2026");
});
