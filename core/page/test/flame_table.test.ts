import { test } from "node:test";
import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { accessible } from "./axe.ts";
import { closeCleanly } from "./browser.ts";
import { useFlamePages } from "./fixtures.ts";
import { wireOf } from "./flame_browser.ts";

const FILES: Readonly<Record<string, string>> = {
  main: "/srv/shop/app.rb", "Cart#total": "/srv/shop/app/models/a_cart_with_a_long_name/and_more/cart.rb",
  call: "/usr/local/bundle/gems/rack-2.2.8/lib/rack/builder.rb", "Integer#times": "", read: "libc.so.6",
};
const STACKS = { "main;call;Cart#total;Integer#times": 371_400e6, "main;call;Cart#total;read": 59_990e6, "main;call": 999e6, main: 1e6 };
const wire = wireOf(STACKS, (name) => FILES[name]!);
const pages = useFlamePages();

async function column(page: Page, at: number): Promise<string[]> {
  return await page.$$eval(".flame-rows [role='row']", (rows, child) => rows.map((row) => row.children[child]?.textContent ?? "missing"), at);
}

/** The headings and cells of numbers whose text is cut. */
async function cut(page: Page): Promise<string[]> {
  return await page.$$eval(".flame-table .flame-number", (cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent));
}

async function widths(page: Page): Promise<number[]> {
  return await page.$$eval("[role='columnheader']", (heads) => heads.map((head) => Math.round(head.getBoundingClientRect().width)));
}

test("no number is cut, and short paths of files fill the room that is left", async () => {
  for (const width of [1280, 1920]) {
    const opened = await pages.open([wire], "", width);
    assert.deepEqual(await cut(opened.page), []);
    assert.deepEqual((await column(opened.page, 3)).sort(), ["", "app.rb:1", "app/models/a_cart_with_a_long_name/and_more/cart.rb:3", "gem rack-2.2.8/lib/rack/builder.rb:2", "libc.so.6:5"]);
    await closeCleanly(opened);
  }
  const compared = await pages.open([[wire, wireOf({ main: 5e9 }, (name) => FILES[name]!)]], "", 1280);
  assert.deepEqual(await cut(compared.page), []);
  await closeCleanly(compared);
  const narrow = await pages.open([wire], "", 400);
  assert.deepEqual(await cut(narrow.page), []);
  assert.deepEqual((await column(narrow.page, 3))[0], "missing");
  await closeCleanly(narrow);
});

test("a long path loses its middle", async () => {
  const opened = await pages.open([wire], "", 1280);
  const { page } = opened;
  const parts = async (): Promise<number[][]> => await page.$$eval(".flame-file", (cells) => cells.filter((cell) => cell.textContent.includes("cart.rb"))
    .map((cell) => [...cell.children].map((part) => part.scrollWidth - part.clientWidth)));

  assert.deepEqual(await parts(), [[0, 0]]);
  await page.focus("[data-width=file]");
  for (let key = 0; key < 100; key++)
    await page.keyboard.press("ArrowLeft");
  for (let key = 0; key < 4; key++)
    await page.keyboard.press("ArrowRight");
  const [[folder, name]] = await parts() as [[number, number]];
  assert.ok(folder > 0 && name === 0, `${folder} ${name}`);
  await closeCleanly(opened);
});

test("no number is cut, and a table without files has no column for them", async () => {
  const opened = await pages.open([wireOf({ "main;slow": 30_000e6, "main;fast": 999e6 }, () => "")], "", 1280);
  const cut = await opened.page.$$eval(".flame-rows .flame-number", (cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent));

  assert.deepEqual(cut, []);
  assert.equal(await opened.page.$("[data-column=file]"), null);
  await closeCleanly(opened);
});

test("columns are resized by dragging and by keyboard, and keep their widths", async () => {
  const opened = await pages.open([wire], "", 1280);
  const { page } = opened;
  const before = await widths(page);
  const handle = (await (await page.$("[data-width=self]"))!.boundingBox())!;

  await page.mouse.move(handle.x + 4, handle.y + 8);
  await page.mouse.down();
  await page.mouse.move(handle.x + 64, handle.y + 8, { steps: 3 });
  await page.mouse.up();
  assert.equal((await widths(page))[1], before[1]! + 60);
  await page.focus("[data-width=total]");
  await page.keyboard.press("ArrowRight");
  assert.equal((await widths(page))[2], before[2]! + 16);
  assert.equal(await page.$eval("[data-width=total]", (each) => each.getAttribute("aria-valuenow")), String(before[2]! + 16));
  await page.reload();
  assert.deepEqual((await widths(page)).slice(1, 3), [before[1]! + 60, before[2]! + 16]);
  await page.focus("[data-width=total]");
  await page.keyboard.press("Home");
  await page.click("[data-width=self]", { count: 2 });
  assert.deepEqual(await widths(page), before);
  await accessible(page, "a table with handles");
  await closeCleanly(opened);
});

test("the table is sorted by file", async () => {
  const opened = await pages.open([wire], "order=file", 1280);

  assert.deepEqual(await column(opened.page, 0), ["Integer#times", "main", "Cart#total", "call", "read"]);
  assert.equal(await opened.page.$eval("[role='row'][title*='cart.rb']", (row) => row.getAttribute("title")), `Cart#total\n${FILES["Cart#total"]!}:3`);
  await closeCleanly(opened);
});

test("below 1,400 px the graph is above the table", async () => {
  for (const [width, isAbove] of [[1280, true], [1920, false]] as const) {
    const opened = await pages.open([wire], "", width);
    const [graph, table] = await opened.page.evaluate(() => [".flame-graphs", ".flame-table"].map((part) => document.querySelector(part)!.getBoundingClientRect().top)) as [number, number];
    assert.equal(graph < table, isAbove);
    await closeCleanly(opened);
  }
});

test("only my code is a switch, which the address keeps", async () => {
  const opened = await pages.open([wire], "", 1280);
  const { page } = opened;
  const rows = async (): Promise<(string | undefined)[][]> => await page.$$eval(".flame-rows [role='row']", (all) => all.map((row) => [row.children[0]!.textContent, row.querySelector(".flame-amount")!.textContent]));

  await page.click(".flame-toggle");
  assert.deepEqual(await rows(), [["Cart#total", "7.19 min"], ["main", "1.00 s"]]);
  assert.equal(new URL(page.url()).hash, "#mine=1");
  await page.reload();
  assert.deepEqual((await rows()).length, 2);
  assert.equal(await page.$eval(".flame-toggle", (toggle) => toggle.getAttribute("aria-pressed")), "true");
  await page.click(".flame-toggle");
  assert.equal((await rows()).length, 5);
  await closeCleanly(opened);
  const own = await pages.open([wireOf({ "main;work": 1e9 })], "mine=1");
  assert.ok(await own.page.$eval(".flame-toggle", (toggle) => (toggle as HTMLButtonElement).disabled && toggle.getAttribute("aria-pressed") === "false"));
  await closeCleanly(own);
  const outside = await pages.open([wireOf({ main: 9e9, "(garbage collection)": 1e9 }, (name) => FILES[name] ?? "")], "mine=1");
  assert.equal(await outside.page.$eval(".flame-notes", (note) => note.textContent), "10.0 % of the total ran without any frame of the application's own code.");
  await closeCleanly(outside);
});
