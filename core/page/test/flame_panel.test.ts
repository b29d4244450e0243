import { describe, test } from "node:test";
import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import type { Panel } from "../src/flame/panel.ts";
import { accessible } from "./axe.ts";
import { closeCleanly } from "./browser.ts";
import { useFlamePages } from "./fixtures.ts";
import { wireOf } from "./flame_browser.ts";

const STACKS = {
  "main;serve;order;query": 4e9, "main;serve;order;render": 2e9, "main;serve;cart;query": 1e9, "main;gc": 1e9, "main;serve;order;order;query": 2e9,
};
const pages = useFlamePages();

const GRAPH = ".flame-scroll[aria-label='Flame graph']";

/** Returns the text that is announced to screen readers. */
async function announced(page: Page): Promise<string> {
  return await page.$eval(".flame [aria-live]", (element) => element.textContent);
}

async function texts(page: Page, selector: string): Promise<string[]> {
  return await page.$$eval(selector, (found) => found.filter((each) => each.checkVisibility()).map((each) => each.textContent.trim()));
}

async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys)
    await page.keyboard.press(key as "Enter");
}

/** Clicks the frame at a level and a position, as a share of the width. */
async function clickAt(page: Page, level: number, share: number, clicks = 1): Promise<void> {
  const box = await (await page.$(`${GRAPH} canvas`))!.boundingBox();

  await page.mouse.click(box!.x + box!.width * share, box!.y + level * 20 + 10, { count: clicks });
}

async function search(page: Page, text: string): Promise<string> {
  await page.$eval(".flame-search", (box) => { (box as HTMLInputElement).value = ""; });
  await page.type(".flame-search", text);
  await page.waitForFunction((wanted) => new URLSearchParams(location.hash.slice(1)).get("search") === wanted, {}, text);
  await page.waitForFunction(() => document.querySelector(".flame-found")!.textContent !== "searching\u2026");
  return (await texts(page, ".flame-found"))[0]!;
}

describe("zoom", () => {
  test("a click zooms in; breadcrumbs, double click and Escape zoom out; a reload keeps the zoom", async () => {
    const opened = await pages.open([wireOf(STACKS)]);
    const { page } = opened;

    await clickAt(page, 3, 0.2);
    assert.deepEqual(await texts(page, ".flame-crumbs button"), ["all", "main", "serve", "order"]);
    await page.reload();
    assert.deepEqual(await texts(page, ".flame-crumbs button"), ["all", "main", "serve", "order"]);
    await page.click(".flame-crumbs li:nth-child(3) button");
    assert.deepEqual(await texts(page, ".flame-crumbs button"), ["all", "main", "serve"]);
    await clickAt(page, 2, 0.5, 2);
    assert.deepEqual(await texts(page, ".flame-crumbs button"), []);
    await clickAt(page, 2, 0.2);
    await page.focus(GRAPH);
    await press(page, "Escape");
    assert.deepEqual(await texts(page, ".flame-crumbs button"), []);
    assert.equal(new URL(page.url()).hash, "");
    await closeCleanly(opened);
  });

  test("a new tree keeps the zoom as far as possible", async () => {
    const opened = await pages.open([wireOf(STACKS)]);
    const { page } = opened;

    await clickAt(page, 4, 0.1);
    await showStacks(page, { "main;serve;order": 5, "main;other": 9 });
    assert.deepEqual(await texts(page, ".flame-crumbs button"), ["all", "main", "serve", "order"]);
    await closeCleanly(opened);
  });
});

const MANY = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`main;f${at};g${at}`, 1e9 - at * 1e6]));

/** Shows another tree and returns the functions that are listed immediately. */
async function showStacks(page: Page, stacks: Record<string, number>): Promise<string[]> {
  return await page.evaluate((wire) => {
    const { panels, treeOf } = window as unknown as { panels: Panel[]; treeOf: (tree: typeof wire) => never };
    panels[0]!.setTree(treeOf(wire));
    return Array.from(document.querySelectorAll(".flame-rows .flame-name"), (name) => name.textContent);
  }, wireOf(stacks));
}

describe("a new tree", () => {
  test("keeps scroll position, current row and highlight", async () => {
    const deep = Array.from({ length: 80 }, (_, at) => `d${at}`).join(";");
    const opened = await pages.open([wireOf({ ...MANY, [deep]: 5e9 })]);
    const { page } = opened;
    const scrolled = async (): Promise<number[]> => await page.$$eval(".flame-table, .flame-scroll[aria-label='Flame graph']", (all) => all.map((each) => each.scrollTop));

    await page.focus(".flame-table");
    for (let down = 0; down < 60; down++)
      await press(page, "ArrowDown");
    await press(page, "Enter");
    await page.$eval(GRAPH, (graph) => { graph.scrollTop = 300; });
    const before = await scrolled();
    const name = (await texts(page, ".flame-active .flame-name"))[0]!;
    assert.ok(before[0]! > 100 && before[1] === 300, String(before));
    // The tree has new functions, which change the indices of the others.
    await showStacks(page, { "new;newer": 1, ...MANY, [deep]: 5e9 });
    assert.deepEqual(await scrolled(), before);
    assert.deepEqual(await texts(page, ".flame-chip span:first-child"), [`highlighted: ${name}`]);
    assert.deepEqual(await texts(page, ".flame-active .flame-name"), [name]);
    await press(page, "h");
    assert.equal(new URLSearchParams(new URL(page.url()).hash.slice(1)).get("hide"), name);
    await closeCleanly(opened);
  });

  test("does not change the function of an open menu", async () => {
    const opened = await pages.open([wireOf(STACKS)]);
    const { page } = opened;

    await page.focus(GRAPH);
    await press(page, "ArrowDown", "ArrowDown", "ContextMenu");
    await showStacks(page, { "new;newer": 1e9, ...STACKS });
    await page.evaluate(() => { Array.from(document.querySelectorAll<HTMLElement>("[role='menuitem']")).find((each) => each.textContent.startsWith("Highlight"))!.click(); });
    assert.deepEqual(await texts(page, ".flame-chip span:first-child"), ["highlighted: serve"]);
    await press(page, "ContextMenu");
    await showStacks(page, STACKS);
    await page.evaluate(() => { Array.from(document.querySelectorAll<HTMLElement>("[role='menuitem']")).find((each) => each.textContent.startsWith("Zoom"))!.click(); });
    assert.deepEqual(await texts(page, ".flame-crumbs button"), ["all", "main", "serve"]);
    await closeCleanly(opened);
  });

  test("keeps the rows of a pattern until the pattern is matched again", async () => {
    const opened = await pages.open([wireOf(MANY)]);
    const { page } = opened;

    await search(page, "/^f1[0-9]$/");
    assert.equal((await showStacks(page, { "new;f1x;f19": 1e9, ...MANY })).length, 10);
    await page.waitForFunction(() => document.querySelector(".flame-found")!.textContent.endsWith("11 frames"));
    await closeCleanly(opened);
  });
});

describe("search", () => {
  test("shows the exact share, counts nested matches once, and goes to matches", async () => {
    const opened = await pages.open([wireOf(STACKS)]);
    const { page } = opened;

    assert.equal(await search(page, "ORDER"), "80.0 % \u00b7 8.00 s \u00b7 2 frames");
    assert.deepEqual(await texts(page, ".flame-rows .flame-name"), ["order"]);
    await press(page, "Enter");
    assert.match((await texts(page, ".flame-found"))[0]!, /1 of 2$/);
    assert.match(await announced(page), /^order: total 8.00 s .* 80.0 % of total/);
    await press(page, "Enter");
    assert.match(await announced(page), /^order: total 2.00 s/);
    assert.equal(await search(page, "/^(gc|cart)$/"), "20.0 % \u00b7 2.00 s \u00b7 2 frames");
    assert.equal(await search(page, "nothing"), "no match");
    assert.deepEqual(await texts(page, ".flame-empty"), ["No matching functions."]);
    assert.match(await search(page, "/(/"), /nterminated group/);
    assert.equal(await page.$eval(".flame-search", (box) => box.getAttribute("aria-invalid")), "true");
    await closeCleanly(opened);
  });

});

describe("a screen reader", () => {
  test("gets name, values, shares and level of each frame", async () => {
    const opened = await pages.open([wireOf(STACKS)]);
    const { page } = opened;

    await page.keyboard.press("Tab");
    await page.focus(GRAPH);
    assert.equal(await announced(page), "all: total 10.0 s \u00b7 100.0 % of total; self 0 ns \u00b7 0.0 % of total; level 0 of 5");
    await press(page, "ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight");
    assert.equal(await announced(page), "cart: total 1.00 s \u00b7 10.0 % of total; self 0 ns \u00b7 0.0 % of total; level 3 of 5");
    await press(page, "Enter", "ArrowDown");
    assert.match(await announced(page), /^query: total 1.00 s .* 100.0 % of the zoomed frame; self 1.00 s .*; level 4 of 5$/);
    await press(page, "Home");
    assert.match(await announced(page), /^cart: /);
    await press(page, "Escape", "Home");
    assert.match(await announced(page), /^all: /);
    await closeCleanly(opened);
  });

  test("can open the shortcuts, and returns to the graph", async () => {
    const opened = await pages.open([wireOf(STACKS)]);
    const { page } = opened;

    await page.focus(GRAPH);
    await press(page, "ArrowDown", "?");
    assert.match((await texts(page, "dialog[open]"))[0]!, /^Keyboard shortcuts of the flame graph and its table.*sandwich/);
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Close");
    await accessible(page, "the shortcuts");
    await press(page, "s", "Escape");
    assert.deepEqual(await texts(page, "dialog[open]"), []);
    assert.ok(await page.$(`${GRAPH}:focus`));
    assert.equal(new URL(page.url()).hash, "");
    await press(page, "ArrowDown");
    assert.match(await announced(page), /^serve: /);
    await page.click(".flame-tools button[title='Keyboard shortcuts']");
    await page.click("dialog[open] button");
    assert.deepEqual(await texts(page, "dialog[open]"), []);
    await closeCleanly(opened);
  });
});

describe("pattern search", () => {
  test("stops excessive backtracking without blocking the page", async () => {
    const opened = await pages.open([wireOf({ ...STACKS, [`main;${"a".repeat(100)}!`]: 1e9 })]);
    const { page } = opened;
    const found = async (): Promise<string> => (await texts(page, ".flame-found"))[0]!;
    const type = async (text: string): Promise<void> => {
      await page.$eval(".flame-search", (box, value) => {
        (box as HTMLInputElement).value = value;
        box.dispatchEvent(new Event("input"));
      }, text);
      await page.waitForFunction((wanted) => new URLSearchParams(location.hash.slice(1)).get("search") === wanted, {}, text);
    };

    await type("/^(a+)+$/");
    assert.equal(await found(), "searching\u2026");
    await page.focus(GRAPH);
    await press(page, "ArrowDown");
    assert.match(await announced(page), /^main: total/);
    // A new search does not wait until the running one is stopped.
    await type("/^main$/");
    await page.waitForFunction(() => document.querySelector(".flame-found")!.textContent.startsWith("100.0 %"), { timeout: 1500 });
    await type("/^(a+)+$/");
    await page.waitForFunction(() => document.querySelector(".flame-found")!.textContent.startsWith("Pattern stopped after 2 s"), { timeout: 20_000 });
    assert.equal(await page.$eval(".flame-search", (box) => box.getAttribute("aria-invalid")), "true");
    await type("/^a+!$/");
    await page.waitForFunction(() => document.querySelector(".flame-found")!.textContent.startsWith("9.1 %"));
    await closeCleanly(opened);
  });

  test("goes to the match after matching if Enter was pressed before", async () => {
    const opened = await pages.open([wireOf(STACKS)], "search=%2Forder%2F");
    const { page } = opened;

    await page.waitForFunction(() => document.querySelector(".flame-found")!.textContent.startsWith("80.0 %"));
    await page.$eval(".flame-search", (box) => {
      (box as HTMLInputElement).value = "/^query$/";
      box.dispatchEvent(new Event("input"));
      box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    });
    await page.waitForFunction(() => document.querySelector(".flame-found")!.textContent.endsWith("1 of 3"));
    assert.match(await announced(page), /^query: total 4.00 s/);
    await closeCleanly(opened);
  });

});

describe("search for narrow frames", () => {
  test("zooms to a match that is too narrow to be visible", async () => {
    const opened = await pages.open([wireOf({ "main;big": 1e12, "main;small;tiny": 1 })]);
    const { page } = opened;

    await search(page, "tiny");
    await press(page, "Enter");
    assert.deepEqual(await texts(page, ".flame-crumbs button"), ["all", "main", "small"]);
    await closeCleanly(opened);
  });
});

describe("the keyboard alone", () => {
  test("moves between frames, zooms, and announces each frame", async () => {
    const opened = await pages.open([wireOf(STACKS)]);
    const { page } = opened;

    for (let tabs = 0; tabs < 40 && !await page.$(`${GRAPH}:focus`); tabs++)
      await press(page, "Tab");
    await press(page, "ArrowDown", "ArrowDown", "ArrowDown");
    assert.match(await announced(page), /^order: total 8.00 s \u00b7 80.0 % of total; self 0 ns/);
    await press(page, "ArrowRight");
    assert.match(await announced(page), /^cart: total 1.00 s/);
    await press(page, "ArrowUp");
    assert.match(await announced(page), /^serve: total 9.00 s/);
    await press(page, "Enter");
    assert.deepEqual(await texts(page, ".flame-crumbs button"), ["all", "main", "serve"]);
    await press(page, "Escape", "/");
    assert.equal(await page.evaluate(() => document.activeElement?.className), "flame-search");
    await closeCleanly(opened);
  });

  test("sandwich, focus and hide add chips, which can be removed and undone", async () => {
    const opened = await pages.open([wireOf(STACKS)]);
    const { page } = opened;
    const chips = (): Promise<string[]> => texts(page, ".flame-chip span:first-child");

    await page.focus(GRAPH);
    await press(page, "ArrowDown", "ArrowDown", "ArrowDown", "h");
    assert.deepEqual(await chips(), ["hidden: order"]);
    await press(page, "ArrowDown", "ArrowDown", "ArrowDown", "f");
    assert.deepEqual(await chips(), ["focus: query", "hidden: order"]);
    assert.deepEqual((await texts(page, ".flame-rows .flame-name")).sort(), ["cart", "main", "query", "serve"]);
    await press(page, "s");
    assert.equal((await chips()).length, 3);
    assert.equal((await page.$$(".flame-scroll:not([hidden])")).length, 2);
    assert.deepEqual(await texts(page, ".flame-half"), ["Callers of query", "Callees of query"]);
    await page.focus(".flame-chip");
    await press(page, "Enter");
    assert.equal((await chips()).length, 2);
    for (let step = 0; step < 4; step++)
      await page.click(".flame-tools button[title*='Undo']");
    assert.deepEqual(await chips(), []);
    assert.equal(new URL(page.url()).hash, "");
    await closeCleanly(opened);
  });
});

describe("the context menu", () => {
  test("Shift F10 opens the menu, which copies a name", async () => {
    const opened = await pages.open([wireOf(STACKS)]);
    const { page } = opened;

    await page.focus(GRAPH);
    await press(page, "ArrowDown", "ArrowDown");
    await page.keyboard.down("Shift");
    await press(page, "F10");
    await page.keyboard.up("Shift");
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("role")), "menuitem");
    await press(page, "End", "ArrowUp", "Enter");
    await page.waitForFunction(() => document.querySelector(".flame [aria-live]")!.textContent === "Name copied.");
    assert.ok(await page.$(`${GRAPH}:focus`));
    await page.focus(".flame-search");
    await page.keyboard.down("Control");
    await press(page, "v");
    await page.keyboard.up("Control");
    assert.equal(await page.$eval(".flame-search", (box) => (box as HTMLInputElement).value), "serve");
    await closeCleanly(opened);
  });

  test("a long press or Ctrl-click opens the menu of the frame under the pointer", async () => {
    const opened = await pages.open([wireOf(STACKS)]);
    const { page } = opened;
    const box = (await (await page.$(`${GRAPH} canvas`))!.boundingBox())!;

    await page.$eval(`${GRAPH} canvas`, (canvas, x, y) => {
      canvas.dispatchEvent(new MouseEvent("contextmenu", { button: 0, bubbles: true, cancelable: true, clientX: x, clientY: y }));
    }, box.x + 5, box.y + 30);
    assert.equal((await texts(page, ".flame-menu-title"))[0], "main");
    await closeCleanly(opened);
  });

  test("the table moves between rows, sorts and highlights", async () => {
    const opened = await pages.open([wireOf(STACKS)]);
    const { page } = opened;

    await page.focus(".flame-table");
    await press(page, "ArrowDown", "Enter");
    assert.deepEqual(await texts(page, ".flame-chip span:first-child"), ["highlighted: query"]);
    assert.match((await texts(page, ".flame-found"))[0]!, /^70.0 %/);
    await press(page, "Escape");
    assert.deepEqual(await texts(page, ".flame-chip span:first-child"), []);
    await page.click("[data-column='name']");
    assert.deepEqual(await texts(page, ".flame-rows .flame-name"), ["cart", "gc", "main", "order", "query", "render", "serve"]);
    await page.click("[data-column='name']");
    assert.deepEqual((await texts(page, ".flame-rows .flame-name"))[0], "serve");
    assert.equal(await page.$eval("[role='columnheader']", (head) => head.getAttribute("aria-sort")), "descending");
    await closeCleanly(opened);
  });
});

test("a table of 100,000 functions scrolls with few elements", async () => {
  const stacks: Record<string, number> = {};
  for (let at = 0; at < 100_000; at++)
    stacks[`main;f${at}`] = 1e6 + at;
  const opened = await pages.open([wireOf(stacks)]);
  const { page } = opened;

  await page.focus(".flame-table");
  await press(page, "End");
  // Wait, since the table replaces its rows while it scrolls to its end.
  await page.waitForFunction(() => document.querySelector(".flame-active .flame-name")?.textContent === "main");
  assert.ok((await page.$$(".flame-rows [role='row']")).length < 100);
  assert.equal(await page.$eval(".flame-table", (table) => table.getAttribute("aria-rowcount")), "100002");
  await closeCleanly(opened);
});

test("linked panels zoom and search together", async () => {
  const opened = await pages.open([wireOf(STACKS), wireOf({ "main;serve;order;query": 1e9, "main;order": 1e9 })]);
  const { page } = opened;

  await clickAt(page, 2, 0.1);
  assert.deepEqual(await texts(page, ".flame-crumbs button"), ["all", "main", "serve", "all", "main", "serve"]);
  await search(page, "order");
  assert.deepEqual(await texts(page, ".flame-found"), ["80.0 % \u00b7 8.00 s \u00b7 2 frames", "100.0 % \u00b7 2.00 s \u00b7 2 frames"]);
  await closeCleanly(opened);
});
