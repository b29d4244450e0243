/** Tests of the choice between the browser's time zone and UTC, in a browser. */
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import type { Browser, Page } from "puppeteer-core";
import { accessibleInBothThemes } from "./axe.ts";
import { closeCleanly, open, startBrowser, type Opened } from "./browser.ts";
import { rowsOf } from "./content.ts";
import { Server } from "./server.ts";
import { shopTrace } from "./shop.ts";
import { parameter, text, waitForParameter, waitForText } from "./wait.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOON = (Math.floor(Date.now() / DAY) - 2) * DAY + DAY / 2;
const TODAY = new Date(NOON).toISOString().slice(0, 10);
/** UTC+05:45 all year. */
const KATHMANDU = "Asia/Kathmandu";
let server: Server, browser: Browser, other: Browser;

before(async () => {
  server = await Server.start("--ingest-window", "off");
  [browser, other] = await Promise.all([startBrowser(), startBrowser()]);
  await server.pushFolded("shop.cpu", "main;work 200", NOON - HOUR / 2);
  await server.pushTrace("shop", shopTrace(1, NOON - HOUR / 2));
  await server.send("api/v1/annotations", JSON.stringify({ text: "Deployed 1.4", application: null, timeMs: NOON - HOUR / 2 }), "application/json");
});

after(async () => {
  await browser.close();
  await other.close();
});

async function openIn(zone: string, path: string, own = browser): Promise<Opened> {
  const opened = await open(own, `${server.base}healthz`);

  await opened.page.emulateTimezone(zone);
  await opened.page.goto(server.base + path, { waitUntil: "load" });
  return opened;
}

async function chooseZone(page: Page, zone: string): Promise<void> {
  await page.waitForSelector('select[aria-label="Time zone"]');
  await page.select('select[aria-label="Time zone"]', zone);
}

const RANGE = `from=${NOON - HOUR}&until=${NOON}`;

async function rangeButton(page: Page, expected: string): Promise<void> {
  await waitForText(page, ".range .menu-button", expected);
}

test("every time follows the choice between local time and UTC", async () => {
  const opened = await openIn(KATHMANDU, `?query=shop.cpu&${RANGE}`);
  const { page } = opened;

  await rangeButton(page, `${TODAY} 16:45:00 \u2013 ${TODAY} 17:45:00`);
  await page.waitForSelector(".axis-zone");
  assert.equal(await text(page, ".axis-zone"), "UTC+05:45");
  await accessibleInBothThemes(page);
  await chooseZone(page, "utc");
  await rangeButton(page, `${TODAY} 11:00:00 \u2013 ${TODAY} 12:00:00`);
  assert.equal(parameter(page, "tz"), "utc");
  await page.waitForSelector(".mark");
  assert.equal(await text(page, ".axis-zone"), "UTC");
  assert.match(await page.$eval(".mark", (mark) => mark.getAttribute("aria-label")!), new RegExp(`${TODAY} 11:30:00`));
  // Typed times are in UTC, too.
  await page.click(".range .menu-button");
  assert.equal(await text(page, ".range-zone"), "Time zone: UTC");
  for (const [name, typed] of [["from", `${TODAY} 10:00`], ["until", `${TODAY} 12:00`]] as const) {
    await page.$eval(`.absolute input[name=${name}]`, (field) => { field.value = ""; });
    await page.type(`.absolute input[name=${name}]`, typed);
  }
  await page.keyboard.press("Enter");
  await waitForParameter(page, "from", String(NOON - 2 * HOUR));
  await waitForParameter(page, "until", String(NOON));
  await page.evaluate(() => { Array.from(document.querySelectorAll<HTMLElement>(".shell nav a")).find((each) => each.textContent === "Traces")!.click(); });
  assert.equal((await rowsOf(page, "Traces"))[0]![2], `${TODAY} 11:30:00`);
  await chooseZone(page, "local");
  await page.waitForFunction(() => document.querySelector('table[aria-label="Traces"]')?.textContent.includes("17:15:00"));
  assert.equal(parameter(page, "tz"), null);
  await closeCleanly(opened);
});

test("a link with UTC shows UTC to others, and the choice is stored", async () => {
  const first = await openIn(KATHMANDU, `?query=shop.cpu&${RANGE}`);

  await chooseZone(first.page, "utc");
  await waitForParameter(first.page, "tz", "utc");
  const shared = await openIn("America/Bogota", first.page.url().slice(server.base.length), other);
  await rangeButton(shared.page, `${TODAY} 11:00:00`);
  // A link does not change the choice that the browser stores.
  await shared.page.goto(`${server.base}?query=shop.cpu&${RANGE}`);
  await rangeButton(shared.page, `${TODAY} 06:00:00`);
  await first.page.goto(`${server.base}labels?query=shop.cpu&${RANGE}`);
  await rangeButton(first.page, `${TODAY} 11:00:00`);
  assert.equal(parameter(first.page, "tz"), "utc");
  // The link of the page's name contains no time zone.
  await first.page.click(".brand");
  await first.page.waitForFunction(() => location.pathname === "/");
  assert.equal(parameter(first.page, "tz"), "utc");
  await closeCleanly(first);
  await closeCleanly(shared);
});

test("yesterday and the ticks of the axis are those of the chosen zone", async () => {
  const opened = await openIn(KATHMANDU, `comparison?query=shop.cpu&tz=utc&leftFrom=${NOON - 2 * HOUR}&leftUntil=${NOON - HOUR}&rightFrom=${NOON - HOUR}&rightUntil=${NOON}`);
  const { page } = opened;

  await page.waitForSelector(".axis-zone");
  assert.equal(await text(page, ".axis-zone"), "UTC");
  await waitForText(page, ".comparison-side.right .menu-button", `${TODAY} 11:00:00`);
  assert.match(await page.$eval(".time-range.right .time-whole", (part) => part.getAttribute("aria-valuetext")!), new RegExp(`^${TODAY} 11:00:00`));
  await page.evaluate(() => { Array.from(document.querySelectorAll<HTMLElement>(".baselines button")).find((each) => each.textContent === "Same time yesterday")!.click(); });
  await waitForParameter(page, "leftFrom", String(NOON - 25 * HOUR));
  await closeCleanly(opened);
});
