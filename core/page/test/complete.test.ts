/** Tests of completions in the query field, in a browser. */
import { test } from "node:test";
import assert from "node:assert/strict";
import { closeCleanly } from "./browser.ts";
import { typeQuery, useServer } from "./fixtures.ts";
import { waitForGraph, parameter, waitForText, waitForParameter } from "./wait.ts";
import { Proxy } from "./proxy.ts";

const NOW = Math.floor(Date.now() / 60_000) * 60_000;
const MINUTE = 60_000;

const served = useServer(async (server) => {
  for (const host of ["web-1", "web-2"])
    await server.pushFolded(`shop.cpu{host=${host}}`, "main;serve;db 700\nmain;serve;render 300", NOW - 10 * MINUTE);
  await server.pushFolded("search.cpu{host=web-9}", "main;find 50", NOW - 3 * MINUTE);
});

test("Enter and Tab complete names, operators and values, and the query is closed", async () => {
  const opened = await served.at(`?query=shop.cpu&from=${NOW - 20 * MINUTE}&until=${NOW}`);
  const { page } = opened;
  const value = async (): Promise<string> => await page.$eval(".query", (field) => (field as HTMLInputElement).value);
  const accept = async (wanted: string, key: "Enter" | "Tab"): Promise<void> => {
    await waitForText(page, '.options [aria-selected="true"]', wanted);
    await page.keyboard.press(key);
  };

  await waitForGraph(page);
  await typeQuery(page, "sea");
  await accept("search", "Enter");
  assert.equal(await value(), "search.cpu{}");
  await page.keyboard.type("ho");
  await accept("host", "Tab");
  await accept("is", "Enter");
  assert.equal(await value(), 'search.cpu{host=""}');
  await accept("web-9", "Tab");
  assert.equal(await value(), 'search.cpu{host="web-9"}');
  await page.keyboard.press("Enter");
  await waitForParameter(page, "query", 'search.cpu{host="web-9"}');
  await waitForText(page, ".figures", "500 ms in 1 profile");
  assert.equal(await page.$eval(".query", (field) => field.getAttribute("aria-expanded")), "false");
  assert.ok(await page.$eval(".query", (field) => field === document.activeElement));
  await page.keyboard.press("Tab");
  assert.ok(await page.$eval(".query", (field) => field !== document.activeElement));
  await closeCleanly(opened);
});

test("typed brackets and quotes close themselves, and Escape keeps typed text", async () => {
  const opened = await served.at(`?query=shop.cpu&from=${NOW - 20 * MINUTE}&until=${NOW}`);
  const { page } = opened;
  const value = async (): Promise<string> => await page.$eval(".query", (field) => (field as HTMLInputElement).value);

  await waitForGraph(page);
  await typeQuery(page, 'search.cpu{host="web-');
  assert.equal(await value(), 'search.cpu{host="web-"}');
  await waitForText(page, '.options [aria-selected="true"]', "web-9");
  await page.keyboard.press("Escape");
  assert.equal(await value(), 'search.cpu{host="web-"}');
  await page.keyboard.type('9"}');
  assert.equal(await value(), 'search.cpu{host="web-9"}');
  await page.keyboard.press("Enter");
  await waitForParameter(page, "query", 'search.cpu{host="web-9"}');
  await closeCleanly(opened);
});

test("Enter waits for the completions of the last key", async () => {
  const opened = await served.at(`?query=shop.cpu&from=${NOW - 20 * MINUTE}&until=${NOW}`);
  const { page } = opened;

  await waitForGraph(page);
  await typeQuery(page, "search.cpu{h");
  await waitForText(page, ".options [role=option]", "host");
  await page.keyboard.press("o");
  await page.keyboard.press("Enter");
  await waitForText(page, ".options [role=option]", "is");
  assert.equal(await page.$eval(".query", (field) => (field as HTMLInputElement).value), "search.cpu{host}");
  await closeCleanly(opened);
});

test("late completions of older text are ignored", async () => {
  let delay = 0;
  const proxy = await Proxy.start(served.base, (path) => path.includes("/labels") ? delay : 0);
  const opened = await served.at("?query=shop.cpu", proxy.base);
  const { page } = opened;
  const typed = (): Promise<string> => page.$eval(".query", (field) => (field as HTMLInputElement).value);

  await waitForGraph(page);
  // Send the request of a key after a second instead of 60 ms, so that the response to
  // the previous key arrives before.
  await page.evaluate(() => {
    const later = window.setTimeout.bind(window);
    window.setTimeout = ((run: () => void, ms: number) => later(run, ms === 60 ? 1000 : ms)) as typeof window.setTimeout;
  });
  delay = 500;
  const requested = page.waitForRequest((request) => request.url().includes("/labels"));
  const answered = page.waitForResponse((response) => response.url().includes("/labels"));
  await typeQuery(page, "search.cpu{h");
  await requested;
  await page.keyboard.type("o");
  await answered;
  await waitForText(page, '.options [aria-selected="true"]', "host");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector<HTMLInputElement>(".query")?.value !== "search.cpu{ho}");
  assert.equal(await typed(), "search.cpu{host}");
  await closeCleanly(opened);
  await proxy.stop();
});

test("completions appear though the user continues typing before a slow response", async () => {
  let delay = 0;
  const proxy = await Proxy.start(served.base, (path) => path.includes("/labels") ? delay : 0);
  const opened = await served.at("?query=shop.cpu", proxy.base);
  const { page } = opened;

  await waitForGraph(page);
  delay = 2000;
  const requested = page.waitForRequest((request) => request.url().includes("/labels"));
  await typeQuery(page, "shop.cpu{");
  await requested;
  await page.keyboard.type("h");
  await waitForText(page, ".options [role=option]", "host");
  assert.equal(proxy.seen.filter((path) => path.includes("/labels")).length, 1);
  await closeCleanly(opened);
  await proxy.stop();
});

test("typed text stays when the query changes, and Escape restores the query", async () => {
  const proxy = await Proxy.start(served.base, (path) => path.includes("label=service_name") ? 1000 : 0);
  const opened = await served.at("?type=process_cpu:cpu:nanoseconds:cpu:nanoseconds", proxy.base);
  const { page } = opened;
  const typed = (): Promise<string> => page.$eval(".query", (field) => (field as HTMLInputElement).value);

  await typeQuery(page, "sea");
  await waitForGraph(page);
  assert.equal(parameter(page, "query"), '{service_name="shop"}');
  assert.equal(await typed(), "sea");
  await page.keyboard.type("r");
  await waitForText(page, ".options [role=option]", "search");
  await page.keyboard.press("Escape");
  assert.equal(await typed(), "sear");
  await page.keyboard.press("Escape");
  assert.equal(await typed(), '{service_name="shop"}');
  await closeCleanly(opened);
  await proxy.stop();
});

test("Enter in an input method does not run the query", async () => {
  const opened = await served.at("?query=shop.cpu");
  const { page } = opened;
  const enter = (isComposing: boolean): Promise<void> => page.$eval(".query",
    (field, composing) => { field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", isComposing: composing, bubbles: true })); }, isComposing);

  await waitForGraph(page);
  await typeQuery(page, "search.cpu");
  await enter(true);
  assert.equal(parameter(page, "query"), "shop.cpu");
  await enter(false);
  await waitForParameter(page, "query", "search.cpu");
  await closeCleanly(opened);
});

