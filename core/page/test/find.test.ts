/** Tests of the box that opens ids, links and names: the parser, and the box in a browser. */
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import type { Browser, Page } from "puppeteer-core";
import { accessibleInBothThemes } from "./axe.ts";
import { closeCleanly, open, startBrowser } from "./browser.ts";
import { waitForPageText } from "./content.ts";
import { pprof } from "./pprof.ts";
import { Server } from "./server.ts";
import { SAMPLE_NS, pushSpan, shopTrace, spanId, traceId } from "./shop.ts";
import { idsIn } from "../src/find/ids.ts";

const now = Date.now();
const DAY_MS = 86_400_000;
const LOOSE = "0af7651916cd43dd8448eb211c80319c";
const TRACE = traceId(7), SPAN = spanId(7 * 16 + 2);
let server: Server, browser: Browser;

before(async () => {
  server = await Server.start("--ingest-window", "7d");
  browser = await startBrowser();
  await server.pushTrace("shop", shopTrace(7, now - 3 * DAY_MS));
  await server.pushTrace("billing", [{ traceId: traceId(9), spanId: spanId(900), name: "invoice", startMs: now - 60_000, durationMs: 90 }]);
  await pushSpan(server, { id: SPAN, name: "render", stacks: "main;render 12", untilMs: now - 3 * DAY_MS + 5000 });
  await pushSpan(server, { id: spanId(5000), name: "untraced", stacks: "main;alone 20", untilMs: now - 2 * DAY_MS });
  await pushSpan(server, { id: spanId(5001), name: "GET /cart", stacks: "main;cart 20", untilMs: now - 20_000 });
  await pushSpan(server, { id: spanId(5002), name: "GET /cart/items", stacks: "main;cart 20", untilMs: now - 20_000 });
  const looseMs = now - 2 * DAY_MS;
  const loose = { stack: "main;loose", valueNs: 90_000_000, labels: { profile_id: spanId(5003), trace_id: LOOSE } };
  await server.send(`ingest?name=shop&format=pprof&from=${Math.floor(looseMs / 1000)}&until=${Math.floor(looseMs / 1000) + 10}`,
    pprof([loose], looseMs, 10_000, SAMPLE_NS), "application/octet-stream");
});

after(async () => {
  await browser.close();
});

const HEX = "4bf92f3577b34da6a3ce929d0e0e4736", SHORT = "00f067aa0ba902b7";

test("ids are found in headers, in other forms and in addresses", () => {
  const cases: readonly (readonly [text: string, traces: readonly string[], spans: readonly string[]])[] = [
    [HEX.toUpperCase(), [HEX], []],
    [`  ${SHORT}\n`, [`${"0".repeat(16)}${SHORT}`], [SHORT]],
    [`traceparent: 00-${HEX}-${SHORT}-01`, [HEX, `${"0".repeat(16)}${SHORT}`], [SHORT]],
    [`${HEX}-${SHORT}-1`, [HEX, `${"0".repeat(16)}${SHORT}`], [SHORT]],
    ["4bf92f35-77b3-4da6-a3ce-929d0e0e4736", [HEX], []],
    ["Root=1-4bf92f35-77b34da6a3ce929d0e0e4736", [HEX], []],
    ["abc:def:0:1", ["abc".padStart(32, "0")], ["def".padStart(16, "0")]],
    [`https://jaeger.example/trace/abc123?uiFind=${SHORT}`, [`${"0".repeat(16)}${SHORT}`, "abc123".padStart(32, "0")], [SHORT]],
    [`https://grafana.example/explore?left=${encodeURIComponent(encodeURIComponent(JSON.stringify({ queries: [{ query: HEX }] })))}`, [HEX], []],
    [`https://tempo.example/api/v2/traces/${HEX}`, [HEX], []],
    [`http://profiles.example/?query=${encodeURIComponent(`shop.cpu{profile_id="${SHORT}"}`)}`, [`${"0".repeat(16)}${SHORT}`], [SHORT]],
    ["f067aa0ba902b7", ["f067aa0ba902b7".padStart(32, "0")], [SHORT]],
    ["GET /cart", [], []], ["deadbeef", [], []], [`${HEX}aa`, [], []], ["%", [], []], ["", [], []],
  ];

  for (const [text, traces, spans] of cases)
    assert.deepEqual(idsIn(text), { traces, spans }, text);
});

/** Opens the box by its key, types the text and runs it. */
async function find(page: Page, text: string): Promise<void> {
  await page.waitForSelector(".find-text");
  await page.keyboard.down("Control");
  await page.keyboard.press("k");
  await page.keyboard.up("Control");
  await page.$eval(".find-text", (input, value) => { (input as HTMLInputElement).value = value; }, text);
  await page.keyboard.press("Enter");
}

async function arrived(page: Page, path: string, parameter: string, value: string): Promise<void> {
  await page.waitForFunction((wanted) => location.pathname === wanted.path && new URL(location.href).searchParams.get(wanted.parameter) === wanted.value,
    {}, { path, parameter, value });
}

test("ids open their trace or span from every view, at any time", async () => {
  const opened = await open(browser, `${server.base}comparison-diff`);
  const { page } = opened;

  await find(page, TRACE);
  await arrived(page, "/trace", "trace", TRACE);
  await waitForPageText(page, "SELECT cart");
  await find(page, `00-${TRACE}-${SPAN}-01`);
  await arrived(page, "/trace", "span", SPAN);
  await page.goto(`${server.base}adhoc`);
  await find(page, SPAN);
  await arrived(page, "/span", "span", SPAN);
  await waitForPageText(page, "120 ms");
  // Samples without a stored trace.
  await find(page, spanId(5000));
  await arrived(page, "/span", "span", spanId(5000));
  await waitForPageText(page, "200 ms");
  await find(page, LOOSE);
  await arrived(page, "/", "query", `{trace_id="${LOOSE}"}`);
  await waitForPageText(page, "90.0 ms");
  // The page's own links keep their state.
  await find(page, `${server.base}spans?order=-spans`);
  await arrived(page, "/spans", "order", "-spans");
  await closeCleanly(opened);
});

test("names open a service or a span name, and several matches can be chosen by keyboard", async () => {
  const opened = await open(browser, `${server.base}traces`);
  const { page } = opened;

  await find(page, "shop");
  await arrived(page, "/", "query", '{service_name="shop"}');
  await find(page, "GET /cart");
  await arrived(page, "/spans", "spanName", "GET /cart");
  await find(page, "invoice");
  await arrived(page, "/traces", "name", "invoice");
  await find(page, "CART");
  await page.waitForSelector(".find-result a");
  assert.deepEqual(await page.$$eval(".find-result a", (links) => links.map((link) => link.textContent)),
    ["GET /cart span name of shop", "GET /cart/items span name of shop"]);
  await accessibleInBothThemes(page);
  await page.focus(".find-text");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await arrived(page, "/spans", "spanName", "GET /cart/items");
  assert.equal(await page.$(".find-result a"), null);
  await closeCleanly(opened);
});

test("a text that leads nowhere is explained, and Escape closes the explanation", async () => {
  const opened = await open(browser, `${server.base}spans`, 400, 800);
  const { page } = opened;

  await find(page, traceId(0xabc));
  await waitForPageText(page, "This server has no trace and no span with this id");
  await page.keyboard.press("Escape");
  assert.equal(await page.$eval(".find-result", (result) => (result as HTMLElement).hidden), true);
  await find(page, "<img src=x>");
  await waitForPageText(page, "contains \u201c<img src=x>\u201d");
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
  await server.stop();
  await find(page, "anything");
  await waitForPageText(page, "The server is not responding");
  await server.restart();
  await closeCleanly(opened);
});
