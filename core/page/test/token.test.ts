import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import type { Browser } from "puppeteer-core";
import { closeCleanly, open, startBrowser } from "./browser.ts";
import { accessible } from "./axe.ts";
import { reloadWithFastLive, waitForText } from "./wait.ts";
import { Server } from "./server.ts";

let browser: Browser;

before(async () => {
  browser = await startBrowser();
});

after(async () => {
  await browser.close();
});

test("a token can have any characters and works without browser storage", async () => {
  const own = await Server.start("--token", "S\u00e9same \u{1f511}");
  const opened = await open(browser, own.base);
  const { page } = opened;

  await page.evaluateOnNewDocument(() => {
    Object.defineProperty(window, "localStorage", { get: () => { throw new DOMException("refused", "SecurityError"); } });
  });
  await page.reload();
  await page.waitForSelector("input[name=token]");
  await page.keyboard.type("\u4e00");
  await page.keyboard.press("Enter");
  await waitForText(page, ".token .fault", "rejected the token");
  await page.type("input[name=token]", "S\u00e9same \u{1f511}");
  await page.keyboard.press("Enter");
  await waitForText(page, ".start h2", "no profiles yet");
  await closeCleanly(opened);
});

test("the page asks for the token once and then sends it", async () => {
  const own = await Server.start("--token", "open sesame");
  const opened = await open(browser, `${own.base}?query=shop.cpu`);
  const { page } = opened;

  await page.waitForSelector("input[name=token]");
  assert.equal(await page.$(".token .fault"), null);
  await page.keyboard.type("sesame street");
  await page.keyboard.press("Enter");
  await waitForText(page, ".token .fault", "rejected the token");
  await accessible(page, "the token form");
  await page.type("input[name=token]", "open sesame");
  await page.keyboard.press("Enter");
  await waitForText(page, ".start h2", "no profiles yet");
  assert.ok(!page.url().includes("sesame"));
  await page.reload();
  await waitForText(page, ".start h2", "no profiles yet");
  await closeCleanly(opened);
});

test("a new tab does not ask again, and the token can be forgotten", async () => {
  const own = await Server.start("--token", "open sesame");
  const first = await open(browser, own.base), second = await open(browser, own.base);

  await second.page.waitForSelector("input[name=token]");
  await first.page.bringToFront();
  await first.page.waitForSelector("input[name=token]");
  assert.equal(await first.page.$eval(".tools button", (button) => [button.textContent, (button as HTMLElement).hidden].join()), "Forget token,true");
  await first.page.type("input[name=token]", "open sesame");
  await first.page.keyboard.press("Enter");
  await waitForText(first.page, ".start h2", "no profiles yet");
  await waitForText(second.page, ".start h2", "no profiles yet");
  await accessible(first.page, "the button that forgets the token");
  await first.page.click(".tools button");
  await first.page.waitForSelector("input[name=token]");
  await second.page.waitForSelector("input[name=token]");
  assert.equal(await first.page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes("token")).length), 0);
  await closeCleanly(first);
  await closeCleanly(second);
});

test("each view asks for the token", async () => {
  const own = await Server.start("--token", "open sesame");
  const opened = await open(browser, own.base);
  const { page } = opened;

  for (const path of ["", "labels", "spans", "traces", "span?span=08d12e6b76c84d11", "trace?trace=0123456789abcdef0123456789abcdef", "comparison", "comparison-diff"]) {
    await page.goto(own.base + path);
    await page.waitForSelector("input[name=token]");
  }
  await closeCleanly(opened);
});

test("live refreshes do not clear the token form", async () => {
  const own = await Server.start("--token", "open sesame");
  const opened = await open(browser, `${own.base}?query=shop.cpu&live=1`);
  const { page } = opened;

  await reloadWithFastLive(page);
  await page.waitForSelector("input[name=token]");
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("name")), "token");
  // Type slowly, so that a refresh that was scheduled before the error would happen
  // meanwhile.
  await page.keyboard.type("open sesame", { delay: 30 });
  await page.keyboard.press("Enter");
  await waitForText(page, ".start h2", "no profiles yet");
  await closeCleanly(opened);
});
