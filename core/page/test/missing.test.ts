/** Tests of unknown addresses, in a browser. */
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import type { Browser } from "puppeteer-core";
import { accessibleInBothThemes } from "./axe.ts";
import { closeCleanly, open, startBrowser } from "./browser.ts";
import { Server } from "./server.ts";
import { clickText, waitForGraph, waitForText } from "./wait.ts";

let server: Server, browser: Browser;

before(async () => {
  server = await Server.start();
  browser = await startBrowser();
  await server.pushFolded("shop.cpu", "main;work 200");
});

after(async () => {
  await browser.close();
});

for (const path of ["expolre", "d/abc/services/x", "pyroscope/ui/nothing"])
  test(`the unknown address /${path} shows the page with links`, async () => {
    const opened = await open(browser, `${server.base}${path}`);
    const { page } = opened;

    await waitForText(page, "#view .notice", `This server has no page /${path}.`);
    assert.equal(await page.title(), "Page not found \u2013 spanprof");
    await accessibleInBothThemes(page);
    await page.reload();
    await waitForText(page, "#view .notice", `This server has no page /${path}.`);
    await clickText(page, "#view li a", "Explore");
    await waitForGraph(page);
    assert.ok(!page.url().includes("path="));
    await closeCleanly(opened);
  });

test("an unknown address has status 404, and programs get a text", async () => {
  const own = await Server.start("--token", "open sesame");

  for (const [base, accept, status, type] of [
    [server.base, "text/html,*/*;q=0.8", 404, "text/html; charset=utf-8"], [server.base, "*/*", 404, "text/plain; charset=utf-8"],
    [own.base, "text/html", 404, "text/html; charset=utf-8"], [own.base, "*/*", 401, "application/json"],
  ] as const) {
    const answer = await fetch(`${base}expolre`, { headers: { Accept: accept } });
    assert.deepEqual([answer.status, answer.headers.get("Content-Type")], [status, type]);
    assert.equal((await answer.text()).includes("404 page not found"), accept === "*/*" && status === 404);
  }
});
