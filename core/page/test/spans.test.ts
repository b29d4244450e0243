/** Tests of the views Spans and Span in a browser. */
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import type { Browser, Page } from "puppeteer-core";
import { accessibleInBothThemes } from "./axe.ts";
import { closeCleanly, open, startBrowser } from "./browser.ts";
import { clickText, parameter, waitForGraph, reloadWithFastLive, waitForTicks, waitForParameter } from "./wait.ts";
import { Proxy } from "./proxy.ts";
import { Server } from "./server.ts";
import { pushSpan, spanId, traceId } from "./shop.ts";
import { rowsOf, waitForPageText, textOf } from "./content.ts";

const HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>\u202egnp.exe";
const now = Date.now();
let server: Server, browser: Browser;

before(async () => {
  server = await Server.start();
  browser = await startBrowser();
  // GET /cart has 3, 4 and 5 samples in three spans. POST /order has 30 samples in one
  // span.
  for (let at = 1; at <= 3; at++)
    await pushSpan(server, { id: spanId(at), name: "GET /cart", stacks: `main;cart 1\nmain;render ${at + 1}`, untilMs: now - at * 60_000 });
  await pushSpan(server, { id: spanId(9), name: "POST /order", stacks: "main;order 18\nmain;pay 12", untilMs: now - 60_000 });
  await pushSpan(server, { id: spanId(10), name: HOSTILE, stacks: "main;x 1", untilMs: now - 60_000 });
  await pushSpan(server, { id: spanId(11), stacks: "main;unnamed 2", untilMs: now - 60_000 });
  await server.pushFolded("shop.cpu", "main;idle 8", now - 60_000);
  await server.pushTrace("shop", [1, 2, 3].map((at) => ({
    traceId: traceId(at), spanId: spanId(at), name: "GET /cart", startMs: now - at * 60_000 - 5000, durationMs: at * 100,
    attributes: { "http.route": "/cart", [HOSTILE]: HOSTILE, long: "x".repeat(100_000) },
  })));
  await server.pushTrace("shop", [{ traceId: traceId(40), spanId: spanId(40), name: "quick", startMs: now - 50_000, durationMs: 1 }]);
});

after(async () => {
  await browser.close();
});

const spansTable = async (page: Page): Promise<string[][]> => await rowsOf(page, "Span names");

test("span names have exact totals, and durations from traces", async () => {
  const opened = await open(browser, `${server.base}spans`);
  const rows = await spansTable(opened.page);
  const cart = rows.find((row) => row[0]!.includes("GET /cart"))!;

  assert.equal(rows.length, 4);
  assert.match(rows[0]![0]!, /POST \/order/);
  assert.deepEqual([rows[0]![2], rows[0]![5]], ["300 ms", "1"]);
  // The columns: name, service, CPU, share of 530 ms, samples, spans, average, p50,
  // p99, longest, traced.
  assert.deepEqual([cart[1], cart[2], cart[3], cart[5], cart[6], cart[7], cart[8], cart[9], cart[10]],
    ["shop", "120 ms", "22.6 %", "3", "40.0 ms", "200 ms", "300 ms", "300 ms", "3"]);
  assert.match(await textOf(opened.page, ".summary"), /6 spans with 4 names: 450 ms CPU in spans, 80.0 ms outside/);
  await closeCleanly(opened);
});

test("a selected name shows its flame graph, also after a reload, and links to Explore", async () => {
  const opened = await open(browser, `${server.base}spans`);
  const { page } = opened;

  await spansTable(page);
  await page.click('button[aria-label="Flame graph of GET /cart"]');
  await page.waitForFunction(() => document.querySelector("#of-name")?.textContent.includes("GET /cart"));
  const link = await page.$eval('section[aria-labelledby="of-name"] .tools-row a', (each) => each.getAttribute("href"));
  assert.equal(new URL(link!, server.base).searchParams.get("query"), '{span_name="GET /cart"}');
  assert.equal(new URL(page.url()).searchParams.get("spanName"), "GET /cart");
  await page.waitForSelector('table[aria-label="GET /cart: most CPU"]');
  const mostCpu = await rowsOf(page, "GET /cart: most CPU");
  assert.deepEqual(mostCpu.map((row) => [row[0], row[2]]), [[spanId(3), "50.0 ms"], [spanId(2), "40.0 ms"], [spanId(1), "30.0 ms"]]);
  const slowest = await rowsOf(page, "GET /cart: slowest");
  assert.deepEqual(slowest.map((row) => row[4]), ["300 ms", "200 ms", "100 ms"]);
  await page.reload();
  await page.waitForSelector('table[aria-label="GET /cart: most CPU"]');
  await page.goBack();
  await page.waitForSelector('table[aria-label="Spans with the most CPU"]');
  assert.equal(new URL(page.url()).searchParams.get("spanName"), null);
  await closeCleanly(opened);
});

test("a click on a row selects its name, and the controls of the row keep their own effect", async () => {
  const opened = await open(browser, `${server.base}spans`);
  const { page } = opened;
  const row = 'table[aria-label="Span names"] tbody tr:nth-child(2)';

  await spansTable(page);
  await page.click(`${row} .tick`);
  assert.match(await textOf(page, "#of-name"), /POST \/order/);
  await page.click(`${row} td:nth-child(5)`);
  await page.waitForFunction(() => document.querySelector("#of-name")?.textContent.includes("GET /cart"));
  assert.match((await page.$eval(row, (each) => each.className)), /selected/);
  await waitForParameter(page, "spanName", "GET /cart");
  await closeCleanly(opened);
});

test("two ticked names are compared, also after a reload", async () => {
  const opened = await open(browser, `${server.base}spans?query=shop.cpu`);
  const { page } = opened;

  await spansTable(page);
  assert.match(await textOf(page, ".pair"), /Tick two names/);
  await page.click('input[aria-label="Compare name GET /cart"]');
  assert.match(await textOf(page, ".pair"), /compare it with GET \/cart/);
  await page.click('input[aria-label="Compare name POST /order"]');
  await page.reload();
  await page.waitForSelector(".pair a");
  await clickText(page, ".pair a", "Diff");
  await page.waitForSelector(".view-comparison-diff .summary");
  assert.equal(parameter(page, "leftQuery"), 'shop.cpu{span_name="GET /cart"}');
  assert.equal(parameter(page, "rightQuery"), 'shop.cpu{span_name="POST /order"}');
  assert.equal(parameter(page, "ticked"), null);
  assert.match(await textOf(page, ".summary"), /120 ms in 3 profiles . 300 ms in 1 profile/);
  await page.goBack();
  await page.waitForSelector('input[aria-label="Compare name GET /cart"]:checked');
  await closeCleanly(opened);
});

test("a click includes or excludes a name, and the filter stays in the address", async () => {
  const opened = await open(browser, `${server.base}spans?query=shop.cpu`);
  const { page } = opened;

  await spansTable(page);
  await page.click('a[aria-label="Exclude span name POST /order"]');
  await waitForParameter(page, "query", 'shop.cpu{span_name!="POST /order"}');
  await page.waitForFunction(() => document.querySelectorAll('table[aria-label="Span names"] tbody tr').length === 3);
  await page.click('a[aria-label="Show only span name GET /cart"]');
  await waitForParameter(page, "query", 'shop.cpu{span_name!="POST /order",span_name="GET /cart"}');
  await page.goBack();
  await page.waitForFunction(() => document.querySelectorAll('table[aria-label="Span names"] tbody tr').length === 3);
  await page.type('input[aria-label="Filter names"]', "cart");
  await waitForParameter(page, "filter", "cart");
  await page.reload();
  assert.equal((await spansTable(page)).length, 1);
  await closeCleanly(opened);
});

test("names can be sorted and filtered, and few samples are marked", async () => {
  const opened = await open(browser, `${server.base}spans`);
  const { page } = opened;
  const first = async (): Promise<string> => (await spansTable(page))[0]![0]!;

  await spansTable(page);
  await page.click('table[aria-label="Span names"] th:nth-child(8) button');
  assert.match(await first(), /GET \/cart/);
  assert.equal(await page.$eval('table[aria-label="Span names"] th[aria-sort]', (head) => head.getAttribute("aria-sort")), "descending");
  assert.deepEqual((await spansTable(page)).map((row) => row[4]).sort(), ["1 few", "12", "2 few", "30"]);
  await page.type('input[aria-label="Filter names"]', "order");
  assert.deepEqual((await spansTable(page)).map((row) => row[4]), ["30"]);
  await closeCleanly(opened);
});

test("the link in a span's attribute opens the span, with times in seconds or milliseconds", async () => {
  const fromS = Math.floor(now / 1000) - 130;

  for (const [from, until] of [[fromS, fromS + 3600], [fromS * 1000, (fromS + 3600) * 1000]]) {
    const query = new URLSearchParams({ query: `shop.cpu{profile_id="${spanId(2)}"}`, from: String(from), until: String(until) });
    const opened = await open(browser, `${server.base}?${query.toString()}`);

    await waitForPageText(opened.page, "40.0 ms");
    assert.equal(new URL(opened.page.url()).pathname, "/span");
    assert.equal(await textOf(opened.page, "h1"), "GET /cart");
    assert.match(await textOf(opened.page, ".figures"), /CPU40\.0 msSamples4 fewDuration200 msCPU \/ duration20\.0 %/);
    await waitForPageText(opened.page, "http.route");
    await closeCleanly(opened);
  }
});

test("the name and the service of a span can be included or excluded", async () => {
  const opened = await open(browser, `${server.base}span?span=${spanId(2)}`);
  const { page } = opened;

  for (const [link, query] of [["Show only span name GET /cart", '{span_name="GET /cart"}'], ["Exclude service shop", '{service_name!="shop"}']] as const) {
    await page.waitForSelector(`a[aria-label="${link}"]`);
    await page.click(`a[aria-label="${link}"]`);
    await page.waitForFunction(() => location.pathname === "/spans");
    assert.equal(parameter(page, "query"), query);
    assert.equal(parameter(page, "span"), null);
    await page.goBack();
  }
  await closeCleanly(opened);
});

test("a span can be compared with its baseline", async () => {
  const opened = await open(browser, `${server.base}span?span=${spanId(2)}`);
  const { page } = opened;

  await page.waitForSelector('[role="tab"]');
  await page.focus("#tab-span");
  await page.keyboard.press("ArrowRight");
  await waitForPageText(page, "3 spans with 12 samples, 40.0 ms CPU per span");
  await page.keyboard.press("ArrowRight");
  await page.waitForSelector("#panel-difference .flame, #panel-difference canvas");
  assert.equal(new URL(page.url()).searchParams.get("of"), "difference");
  await page.goBack();
  await closeCleanly(opened);
});

test("the tabs of a span share their search, and Back returns to the previous tab", async () => {
  const opened = await open(browser, `${server.base}span?span=${spanId(2)}`);
  const { page } = opened;
  const selected = async (id: string): Promise<void> => {
    await page.waitForFunction((wanted) => document.querySelector('[role="tab"][aria-selected="true"]')?.id === wanted, {}, id);
  };

  await page.waitForSelector("#panel-span .flame-search");
  await page.type("#panel-span .flame-search", "render");
  await waitForParameter(page, "search", "render");
  await page.click("#tab-baseline");
  await page.waitForSelector("#panel-baseline .flame-search");
  assert.equal(await page.$eval("#panel-baseline .flame-search", (field) => (field as HTMLInputElement).value), "render");
  await page.click("#tab-difference");
  await selected("tab-difference");
  await page.goBack();
  await selected("tab-baseline");
  await page.goBack();
  await selected("tab-span");
  await closeCleanly(opened);
});

test("a span in Explore stays in Explore after a reload", async () => {
  const opened = await open(browser, `${server.base}span?span=${spanId(2)}`);
  const { page } = opened;

  await waitForPageText(page, "40.0 ms");
  await page.evaluate(() => { Array.from(document.querySelectorAll<HTMLElement>(".links a")).find((each) => each.textContent === "Explore")!.click(); });
  await waitForGraph(page);
  await page.reload();
  await waitForGraph(page);
  assert.equal(new URL(page.url()).pathname, "/");
  await waitForPageText(page, "40.0 ms in 1 profile");
  await closeCleanly(opened);
});

test("live updates of spans, a span and traces keep typed text, focus and graphs", async () => {
  const opened = await open(browser, `${server.base}spans?live=1`);
  const { page } = opened;
  const mark = async (selector: string): Promise<void> => {
    await page.waitForSelector(selector);
    await page.$eval(selector, (element) => { element.classList.add("as-it-was"); });
  };

  await reloadWithFastLive(page);
  await mark('section[aria-labelledby="of-name"] canvas');
  await page.type('input[aria-label="Filter names"]', "order");
  // Find and focus the button in one step, since a refresh between two steps could
  // replace it.
  await page.evaluate(() => { document.querySelector<HTMLElement>('button[aria-label="Flame graph of POST /order"]')!.focus(); });
  await waitForTicks(page, 3);
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "Flame graph of POST /order");
  assert.equal(await page.$eval('input[aria-label="Filter names"]', (field) => field.value), "order");
  assert.ok(await page.$("canvas.as-it-was"));
  await pushSpan(server, { id: spanId(60), name: "POST /order", stacks: "main;order 6", untilMs: now - 60_000 });
  await page.waitForFunction(() => document.querySelector('table[aria-label="Span names"] tbody tr td:nth-child(3)')?.textContent === "360 ms");
  await page.goto(`${server.base}span?span=${spanId(2)}&live=1`);
  await mark("#panel-span canvas");
  await page.focus(".links a");
  await waitForTicks(page, 3);
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Show trace");
  assert.ok(await page.$("canvas.as-it-was"));
  await page.goto(`${server.base}traces?live=1`);
  await rowsOf(page, "Traces");
  await page.type('input[name="name"]', "sho");
  await waitForTicks(page, 3);
  assert.equal(await page.$eval('input[name="name"]', (field) => field.value), "sho");
  await closeCleanly(opened);
});

test("parts of spans, a span and a trace are retried after a broken connection", async () => {
  let cut = true;
  const proxy = await Proxy.start(server.base, (path) => cut && /api.v1.(profile|status|diff)|by=id.sort=/.test(path) ? Infinity : 0);
  const opened = await open(browser, `${proxy.base}spans`);
  const { page } = opened;
  const retries = async (path: string, broken: number, there: string): Promise<void> => {
    cut = true;
    await page.goto(proxy.base + path);
    await page.waitForFunction((count) => document.querySelectorAll("#view .fault.notice").length === count, {}, broken);
    cut = false;
    await page.waitForSelector(there);
    await page.waitForFunction(() => document.querySelectorAll("#view .fault.notice").length === 0);
  };

  await retries("spans", 3, 'table[aria-label="Spans with the most CPU"] tbody tr');
  await retries(`span?span=${spanId(2)}`, 1, "#panel-span canvas");
  await retries(`span?span=${spanId(2)}&of=difference`, 1, "#panel-difference canvas");
  await retries(`trace?trace=${traceId(2)}`, 1, 'section[aria-labelledby="trace-flame"] canvas');
  await closeCleanly(opened);
  await proxy.stop();
});

test("single spans are loaded page by page, and a refresh loads all of them", async () => {
  const many = await Server.start();
  for (let at = 1; at <= 80; at++)
    await pushSpan(many, { id: spanId(at), name: `GET /${at}`, stacks: `main;work ${at}`, untilMs: now - 60_000 });
  const opened = await open(browser, `${many.base}spans`);
  const { page } = opened;

  for (let rows = 15; rows <= 60; rows += 15) {
    await page.waitForFunction((wanted) => document.querySelectorAll('table[aria-label="Spans with the most CPU"] tbody tr').length === wanted, {}, rows);
    await page.evaluate(() => { Array.from(document.querySelectorAll(".side-by-side section:first-child > button")).forEach((more) => { (more as HTMLElement).click(); }); });
  }
  await page.waitForFunction(() => document.querySelectorAll('table[aria-label="Spans with the most CPU"] tbody tr').length === 75);
  await page.click('[aria-label="Refresh"]');
  await page.waitForFunction(() => document.querySelector("#view")!.getAttribute("aria-busy") === "false");
  assert.equal((await rowsOf(page, "Spans with the most CPU")).length, 75);
  await closeCleanly(opened);
});

test("a span is shown without a trace, a name or samples", async () => {
  const opened = await open(browser, `${server.base}span?span=${spanId(9)}`);
  const { page } = opened;

  await waitForPageText(page, "No trace of this span");
  await waitForPageText(page, "300 ms");
  await page.goto(`${server.base}span?span=${spanId(11)}`);
  await waitForPageText(page, "Unnamed span");
  await page.click("#tab-baseline");
  await waitForPageText(page, "all spans of shop");
  await page.goto(`${server.base}span?span=${spanId(40)}`);
  await waitForPageText(page, "This span has no samples");
  assert.equal(await textOf(page, "h1"), "quick");
  await page.goto(`${server.base}span?span=${spanId(77)}`);
  await waitForPageText(page, "No samples and no trace of this span");
  await page.goto(`${server.base}span?span=nonsense`);
  await waitForPageText(page, "is not a span id");
  await closeCleanly(opened);
});

test("a span name of the maximum length can be selected and compared", async () => {
  const long = await Server.start();
  await pushSpan(long, { id: spanId(1), name: `(${"n".repeat(2000)}`, stacks: "main;long 3", untilMs: now - 60_000 });
  await pushSpan(long, { id: spanId(2), name: "short", stacks: "main;short 2", untilMs: now - 60_000 });
  const opened = await open(browser, `${long.base}spans`);
  const { page } = opened;

  assert.deepEqual((await spansTable(page)).map((row) => row[2]), ["30.0 ms", "20.0 ms"]);
  await page.click('button[aria-label^="Flame graph of (nnn"]');
  await page.waitForFunction(() => document.querySelectorAll('table[aria-label^="(nnn"][aria-label$=": most CPU"] tbody tr').length === 1);
  await page.waitForSelector('section[aria-labelledby="of-name"] canvas');
  await page.goto(`${long.base}span?span=${spanId(1)}&of=baseline`);
  await waitForPageText(page, "1 span with 3 samples");
  await closeCleanly(opened);
});

test("an empty list of spans is explained", async () => {
  const opened = await open(browser, `${server.base}spans?query=shopp.cpu`);
  const { page } = opened;

  await waitForPageText(page, "No application named \u201cshopp\u201d");
  await page.goto(`${server.base}spans?${new URLSearchParams({ query: "shop.cpu", from: "now-3h", until: "now-2h" }).toString()}`);
  await waitForPageText(page, "No data from");
  await page.goto(`${server.base}spans?${new URLSearchParams({ query: 'shop.cpu{profile_id=""}' }).toString()}`);
  await waitForPageText(page, "have no samples in spans");
  await page.goto(`${server.base}spans?${new URLSearchParams({ query: "shop.cpu{" }).toString()}`);
  await waitForPageText(page, "unexpected end of input");
  await closeCleanly(opened);
});

test("hostile names and attributes are shown as text, and long ones are cut", async () => {
  const opened = await open(browser, `${server.base}spans`);
  const { page } = opened;

  const names = (await spansTable(page)).map((row) => row[0]!);
  assert.ok(names.some((name) => name.includes("<img src=x onerror=alert(1)>") && !name.includes("\u202e")), names.join("\n"));
  await page.goto(`${server.base}span?span=${spanId(1)}`);
  await waitForPageText(page, "Copy all 100,000 characters");
  assert.equal(await page.$$eval("main img, main script", (all) => all.length), 0);
  await page.goto(`${server.base}span?span=${spanId(10)}`);
  await waitForPageText(page, "<script>alert(2)</script>");
  await closeCleanly(opened);
});

test("axe finds no serious problems in Spans and Span", async () => {
  const opened = await open(browser, `${server.base}spans`);

  await rowsOf(opened.page, "Spans with the most CPU");
  await accessibleInBothThemes(opened.page);
  await opened.page.goto(`${server.base}span?span=${spanId(2)}&of=baseline`);
  await waitForPageText(opened.page, "3 spans with 12 samples");
  await accessibleInBothThemes(opened.page);
  await closeCleanly(opened);
});
