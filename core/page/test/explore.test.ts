import { test } from "node:test";
import assert from "node:assert/strict";
import { closeCleanly } from "./browser.ts";
import { typeQuery, useServer } from "./fixtures.ts";
import { waitForGraph, parameter, text, waitForText, waitForParameter } from "./wait.ts";

const NOW = Math.floor(Date.now() / 60_000) * 60_000;
const MINUTE = 60_000;

const served = useServer(async (server) => {
  // Two hosts use one core each for ten minutes. After a gap of five minutes, web-1
  // uses half a core for one minute.
  for (let at = NOW - 20 * MINUTE; at < NOW - 10 * MINUTE; at += 10_000)
    for (const host of ["web-1", "web-2"])
      await server.pushFolded(`shop.cpu{host=${host}}`, "main;serve;db 700\nmain;serve;render 300", at + 10_000);
  for (let at = NOW - 5 * MINUTE; at < NOW - 4 * MINUTE; at += 10_000)
    await server.pushFolded("shop.cpu{host=web-1}", "main;serve;db 500", at + 10_000);
  await server.pushFolded("search.cpu{host=web-9}", "main;find 50", NOW - 3 * MINUTE);
  await server.pushFolded("old.cpu", "main;once 100", NOW - 50 * 60 * MINUTE);
});

test("the first of several services is the one with the most data", async () => {
  const opened = await served.at("");
  const { page } = opened;

  await page.waitForSelector(".services tbody th a");
  await page.click(".services tbody th a");
  await waitForGraph(page);
  assert.equal(parameter(page, "query"), '{service_name="shop"}');
  assert.match(await text(page, "h1"), /^shop \u2013 cpu$/);
  // 2 hosts × 600 s in the first ten minutes, and 30 s in the last one.
  assert.match(await text(page, ".figures"), /^20\.5 min in 126 profiles$/);
  assert.equal(await page.title(), '{service_name="shop"} \u2013 Explore \u2013 spanprof');
  await closeCleanly(opened);
});

test("without data in the last hour, the newest range with data is shown", async () => {
  const opened = await served.at(`?from=${NOW - 60 * 60 * MINUTE}&until=${NOW - 59 * 60 * MINUTE}`);
  const { page } = opened;

  await waitForGraph(page);
  assert.equal(parameter(page, "query"), '{service_name="old"}');
  assert.ok(Number(parameter(page, "from")) < NOW - 50 * 60 * MINUTE && Number(parameter(page, "until")) > NOW - 50 * 60 * MINUTE);
  await closeCleanly(opened);
});

test("the timeline shows CPU cores and gaps", async () => {
  const opened = await served.at(`?query=shop.cpu&from=${NOW - 20 * MINUTE}&until=${NOW}`);
  const { page } = opened;
  const valueText = async (): Promise<string> => await page.$eval(".timeline-plot", (plot) => plot.getAttribute("aria-valuetext") ?? "");

  await waitForGraph(page);
  await page.waitForSelector(".timeline-plot canvas");
  await page.focus(".timeline-plot");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  assert.match(await valueText(), /: 2 cores$/);
  for (let step = 0; step < 20; step++)
    await page.keyboard.press("PageUp");
  assert.match(await valueText(), /no data/);
  assert.match(await text(page, ".timeline > .sr"), /at most 2 cores/);
  await closeCleanly(opened);
});

test("a drag on the timeline selects a range, and Back restores the previous one", async () => {
  const opened = await served.at(`?query=shop.cpu&from=${NOW - 20 * MINUTE}&until=${NOW}`);
  const { page } = opened;

  await waitForGraph(page);
  const box = (await (await page.waitForSelector(".timeline-plot .u-over"))!.boundingBox())!;
  await page.mouse.move(box.x + box.width / 4, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.4, box.y + 40, { steps: 4 });
  await page.mouse.move(box.x + box.width / 2, box.y + 40, { steps: 4 });
  await page.mouse.up();
  await page.waitForFunction((from: number) => Number(new URL(location.href).searchParams.get("from")) > from, {}, NOW - 20 * MINUTE);
  assert.ok(Math.abs(Number(parameter(page, "from")) - (NOW - 15 * MINUTE)) < 5000);
  assert.ok(Math.abs(Number(parameter(page, "until")) - (NOW - 10 * MINUTE)) < 5000);
  await waitForText(page, ".figures", "in 6");
  await page.goBack();
  await waitForParameter(page, "from", String(NOW - 20 * MINUTE));
  await waitForText(page, ".figures", "in 126");
  await closeCleanly(opened);
});

test("a horizontal swipe selects a range, and a vertical one scrolls", async () => {
  const opened = await served.at(`?query=shop.cpu&from=${NOW - 20 * MINUTE}&until=${NOW}`);
  const { page } = opened;
  const swipe = async (x: number, y: number, byX: number, byY: number): Promise<void> => {
    await page.touchscreen.touchStart(x, y);
    for (let step = 1; step <= 10; step++)
      await page.touchscreen.touchMove(x + byX * step / 10, y + byY * step / 10);
    await page.touchscreen.touchEnd();
  };

  await page.setViewport({ width: 1400, height: 500, hasTouch: true });
  await waitForGraph(page);
  const box = (await (await page.waitForSelector(".timeline-plot .u-over"))!.boundingBox())!;
  await swipe(box.x + box.width / 4, box.y + 80, 20, -150);
  await page.waitForFunction(() => scrollY > 50);
  assert.equal(parameter(page, "from"), String(NOW - 20 * MINUTE));
  assert.equal(await page.$eval(".u-select", (each) => (each as HTMLElement).offsetWidth), 0);
  await page.evaluate(() => { scrollTo(0, 0); });
  await swipe(box.x + box.width / 4, box.y + 40, box.width / 4, 10);
  await page.waitForFunction((from: number) => Number(new URL(location.href).searchParams.get("from")) > from, {}, NOW - 20 * MINUTE);
  assert.ok(Math.abs(Number(parameter(page, "from")) - (NOW - 15 * MINUTE)) < 5000);
  assert.ok(Math.abs(Number(parameter(page, "until")) - (NOW - 10 * MINUTE)) < 5000);
  await closeCleanly(opened);
});

test("a range can be selected by keyboard", async () => {
  const opened = await served.at(`?query=shop.cpu&from=${NOW - 20 * MINUTE}&until=${NOW}`);
  const { page } = opened;

  await waitForGraph(page);
  await page.waitForSelector(".timeline-plot canvas");
  await page.focus(".timeline-plot");
  await page.keyboard.press("Home");
  await page.keyboard.down("Shift");
  await page.keyboard.press("PageUp");
  await page.keyboard.up("Shift");
  await page.keyboard.press("Enter");
  await waitForParameter(page, "from", String(NOW - 20 * MINUTE));
  await page.waitForFunction((end: number) => Number(new URL(location.href).searchParams.get("until")) < end, {}, NOW);
  await closeCleanly(opened);
});

test("an annotation can be added, removed and restored by keyboard", async () => {
  const opened = await served.at(`?query=shop.cpu&from=${NOW - 20 * MINUTE}&until=${NOW}`);
  const { page } = opened;
  const annotations = async (): Promise<{ id: string; text: string; application: string | null; timeMs: number }[]> =>
    (await (await fetch(`${served.base}api/v1/annotations?from=1`)).json() as { annotations: [] }).annotations;

  await waitForGraph(page);
  await page.waitForSelector(".timeline-plot canvas");
  await page.focus(".timeline-plot");
  await page.keyboard.press("Home");
  await page.keyboard.press("a");
  await page.waitForSelector(".mark-form");
  await page.keyboard.type("deployed <b>1.4</b> \u202e");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".mark");
  assert.match(await page.$eval(".mark", (mark) => mark.getAttribute("aria-label") ?? ""), /deployed <b>1\.4<\/b> \ufffd/);
  const [one] = await annotations();
  assert.deepEqual([one?.text, one?.application, one?.timeMs], ["deployed <b>1.4</b> \u202e", "shop", NOW - 20 * MINUTE]);
  await page.focus(".mark");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".mark-info");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelectorAll(".mark").length === 0);
  assert.deepEqual(await annotations(), []);
  await waitForText(page, ".mark-info", "Removed \u201cdeployed <b>1.4</b> \ufffd\u201d.");
  await page.waitForFunction(() => document.activeElement?.textContent === "Undo");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".mark");
  assert.deepEqual(await annotations(), [one]);
  assert.equal(await page.$(".mark-info"), null);
  await closeCleanly(opened);
});

test("a click on the timeline selects the time of the annotation", async () => {
  const opened = await served.at(`?query=shop.cpu&from=${NOW - 20 * MINUTE}&until=${NOW}`);
  const { page } = opened;

  await waitForGraph(page);
  const box = (await (await page.waitForSelector(".timeline-plot .u-over"))!.boundingBox())!;
  await page.mouse.click(box.x + box.width / 2, box.y + 40);
  await page.click(".annotate");
  const minute = new Date(NOW - 10 * MINUTE).toTimeString().slice(0, 4);
  const field = await page.$eval("input[name=time]", (input) => (input).value);
  assert.ok(field.includes(minute) || field.includes(new Date(NOW - 10 * MINUTE - 1000).toTimeString().slice(0, 4)), field);
  await page.keyboard.press("Escape");
  assert.equal(await page.$(".mark-form"), null);
  await closeCleanly(opened);
});

test("Enter runs the query exactly as typed", async () => {
  const opened = await served.at(`?query=shop.cpu&from=${NOW - 20 * MINUTE}&until=${NOW}`);
  const { page } = opened;
  const query = 'shop.cpu{ host =~ "web-.*" , host!="web-2"}';

  await waitForGraph(page);
  await typeQuery(page, query);
  await page.keyboard.press("Enter");
  await waitForParameter(page, "query", query);
  await waitForText(page, ".figures", "in 66");
  await page.goBack();
  await waitForText(page, ".figures", "in 126");
  assert.equal(await page.$eval(".query", (field) => (field as HTMLInputElement).value), "shop.cpu");
  await closeCleanly(opened);
});

test("a range can start in 1970, and the menu shows the time zone", async () => {
  const opened = await served.at("?query=shop.cpu&from=0");

  await waitForGraph(opened.page);
  await opened.page.click(".range summary, .range button");
  assert.match(await text(opened.page, ".range-zone"), /Time zone: UTC/);
  await closeCleanly(opened);
});

test("an error in the name of a label says how to write it", async () => {
  const opened = await served.at(`?query=${encodeURIComponent('{pod-name="a"}')}`);
  const { page } = opened;

  await waitForText(page, ".fault", 'put the name of the label in quotes, as in {"pod-name"="VALUE"}');
  assert.equal(await text(page, ".query-fault mark"), "-");
  await typeQuery(page, '{"pod-name"="a"}');
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => !document.querySelector(".fault.notice"));
  assert.equal(parameter(page, "query"), '{"pod-name"="a"}');
  await closeCleanly(opened);
});

test("an error is marked at its column, also after multi-byte characters", async () => {
  const query = '{service_name="\u00e9\u{1f600}", host~"a"}';
  const opened = await served.at(`?query=${encodeURIComponent(query)}`);
  const { page } = opened;

  await waitForText(page, ".fault", "parse error");
  assert.equal(await text(page, ".query-fault mark"), "~");
  assert.equal(await page.$eval(".query", (field) => field.getAttribute("aria-invalid")), "true");
  await typeQuery(page, "shop.cpu");
  await page.keyboard.press("Enter");
  await waitForGraph(page);
  assert.equal(await page.$eval(".query", (field) => field.getAttribute("aria-invalid")), null);
  await closeCleanly(opened);
});

test("Back undoes the filters of a flame graph one by one", async () => {
  const opened = await served.at(`?query=shop.cpu&from=${NOW - 20 * MINUTE}&until=${NOW}`);
  const { page } = opened;
  const chips = async (count: number): Promise<void> => {
    await page.waitForFunction((wanted: number) => document.querySelectorAll(".flame-chip").length === wanted
      && document.querySelector(".graph canvas") !== null, {}, count);
  };

  await waitForGraph(page);
  await page.focus(".flame-scroll[aria-label='Flame graph']");
  for (const key of ["ArrowDown", "ArrowDown", "h", "ArrowDown", "s"] as const)
    await page.keyboard.press(key);
  await chips(2);
  await page.goBack();
  await chips(1);
  assert.equal(parameter(page, "hide"), "serve");
  await page.goBack();
  await chips(0);
  await page.goForward();
  await chips(1);
  await closeCleanly(opened);
});

test("a link to a span opens the Span view", async () => {
  const query = 'shop.cpu{profile_id="08d12e6b76c84d11"}';
  const opened = await served.at(`?query=${encodeURIComponent(query)}&from=${NOW / 1000 - 3600}&until=${NOW / 1000}`);
  const { page } = opened;

  assert.equal(new URL(page.url()).pathname, "/span");
  assert.equal(parameter(page, "span"), "08d12e6b76c84d11");
  assert.equal(parameter(page, "from"), String(NOW / 1000 - 3600));
  await closeCleanly(opened);
});
