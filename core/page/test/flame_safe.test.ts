import { describe, test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "puppeteer-core";
import type { Panel, Picture } from "../src/flame/panel.ts";
import { closeCleanly } from "./browser.ts";
import { useFlamePages } from "./fixtures.ts";
import { wireOf } from "./flame_browser.ts";

interface Window {
  panels: Panel[];
  svgOf: (picture: Picture) => string;
  canvasOf: (picture: Picture, scale: number) => HTMLCanvasElement;
}

const STACKS = {
  "main;serve;order;query": 4e9, "main;serve;order;render": 2e9, "main;serve;cart;query": 1e9, "main;gc": 1e9, "[unknown]": 1e9,
};
const BASE = { "main;serve;order;query": 1e9, "main;serve;order;render": 3e9, "main;serve;old": 1e9, "main;gc": 1e9, "[unknown]": 1e9 };
const HOSTILE = [
  "<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "\u202egnp.exe\u2066", "\u0000\u001b[31mred\u0007", "x".repeat(100_000),
  "\ud800half", "\u05e9\u05dc\u05d5\u05dd(\u05e2\u05d5\u05dc\u05dd)", "${7*7}{{7*7}}", "' onfocus='alert(1)", "javascript:alert(1)", "a\nb", "~", "__proto__", "",
  "constructor",
];
/** axe-core, which the DevTools protocol injects regardless of the page's policy. */
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const pages = useFlamePages();

async function svgOf(page: Page): Promise<{ isFine: boolean; text: string; elements: string[] }> {
  return await page.evaluate(() => {
    const { panels, svgOf: write } = window as unknown as Window;
    const text = write(panels[0]!.picture());
    const made = new DOMParser().parseFromString(text, "image/svg+xml");

    return {
      isFine: made.querySelector("parsererror") === null, text,
      elements: [...new Set([...made.querySelectorAll("*")].map((each) => each.nodeName))].sort(),
    };
  });
}

describe("hostile names", () => {
  for (const display of ["", "shown=graph&layout=flame", "colour=kind&recursion=all&sort=name&order=-total"])
    test(`have no effect with ${display || "default options"}`, async () => {
      const stacks = Object.fromEntries(HOSTILE.map((name, at) => [`main;${name.replaceAll(";", ",")};leaf`, 1e9 + at]));
      const opened = await pages.open([wireOf(stacks, (name) => `/srv/${name}/${name}.rb`)], display);
      const { page } = opened;

      await page.focus(".flame-scroll:not([hidden])");
      for (let step = 0; step < HOSTILE.length; step++) {
        for (const key of ["ArrowDown", "ArrowDown", "ArrowRight", "m", "c", "Enter", "s", "h", "f"])
          await page.keyboard.press(key as "Enter");
        const { isFine, text, elements } = await svgOf(page);
        assert.ok(isFine, text.slice(0, 500));
        assert.ok(elements.every((name) => ["rect", "svg", "text"].includes(name)), elements.join());
        await page.evaluate(() => { (window as unknown as Window).panels[0]!.setDisplay({ focus: "", hide: "", sandwich: "", zoom: "" }); });
        for (let move = 0; move <= step; move++)
          await page.keyboard.press("ArrowRight");
      }
      assert.equal(await page.$$eval(".flame script, .flame img, .flame [onfocus], .flame [onerror]", (found) => found.length), 0);
      const text = await page.$eval(".flame", (element) => element.textContent);
      assert.ok(!/[\u202a-\u202e\u2066-\u2069\u0000]/.test(text));
      assert.ok(text.length < 100_000, String(text.length));
      await closeCleanly(opened);
    });

  test("are distinguished in the address if they are long", async () => {
    const long = "y".repeat(100_000);
    const opened = await pages.open([wireOf({ [`main;${long}a`]: 3e9, [`main;${long}b`]: 2e9 })]);
    const { page } = opened;

    await page.focus(".flame-scroll:not([hidden])");
    for (const key of ["ArrowDown", "ArrowDown", "ArrowRight", "f"])
      await page.keyboard.press(key as "Enter");
    assert.ok(page.url().length < 1000);
    await page.reload();
    assert.equal(await page.evaluate(() => (window as unknown as Window).panels[0]!.tree().self.reduce((sum, value) => sum + value, 0)), 2e9);
    await closeCleanly(opened);
  });
});

describe("a comparison", () => {
  test("lists the largest changes first and draws both directions", async () => {
    const opened = await pages.open([[wireOf(BASE), wireOf(STACKS)]], "scale=values");
    const { page } = opened;
    const rows = await page.$$eval(".flame-rows [role='row']", (found) => found.map((row) => [...row.children].map((cell) => cell.textContent.trim())));

    assert.deepEqual(rows[0], ["query", "1.00 s 14.3 %", "5.00 s 55.6 %", "+4.00 s", "+400.0 %"]);
    assert.deepEqual(rows.find(([name]) => name === "old"), ["old", "1.00 s 14.3 %", "0 ns 0.0 %", "\u22121.00 s", "gone"]);
    assert.deepEqual(rows.find(([name]) => name === "cart")!.slice(3), ["+1.00 s", "new"]);
    const fills = await page.evaluate(() => [...new Set((window as unknown as Window).panels[0]!.picture().rectangles.map((each) => each.fill))]);
    assert.ok(["#f5924a", "#e4e7ec", "#5c9ef0"].every((fill) => fills.includes(fill)), fills.join());
    await page.hover(".flame-scroll:not([hidden]) canvas");
    await page.waitForSelector(".flame-tip:not([hidden])");
    assert.match(await page.$eval(".flame-tip", (tip) => tip.textContent), /baseline total.*comparison total.*change/);
    await closeCleanly(opened);
  });
});

test("a picture has all levels, and its canvas has the scaled size", async () => {
  const deep = Array.from({ length: 200 }, (_, at) => `f${at}`).join(";");
  const opened = await pages.open([wireOf({ [deep]: 1e9 })]);
  const { page } = opened;
  const [levels, width, height, texts] = await page.evaluate(() => {
    const { panels, canvasOf } = window as unknown as Window;
    const picture = panels[0]!.picture();
    const canvas = canvasOf(picture, 2);

    return [picture.height / 20, canvas.width / picture.width, canvas.height / picture.height, picture.texts.length];
  });

  assert.deepEqual([levels, width, height, texts], [201, 2, 2, 201]);
  await closeCleanly(opened);
});

test("an empty graph is explained", async () => {
  const opened = await pages.open([wireOf({}), wireOf(STACKS)], "focus=nobody\u202e");
  const { page } = opened;
  const notices = await page.$$eval(".flame-nothing", (found) => found.map((each) => each.textContent));

  assert.equal(notices[1], "Not in this profile: nobody\ufffd. Remove the filter above to see all stacks.");
  await page.click("section:nth-child(2) .flame-chip");
  assert.equal(await page.$eval(".flame-nothing", (each) => each.textContent), "This profile has no samples.");
  assert.equal(await page.$$eval("section:nth-child(2) .flame-nothing", (found) => found[0]!.checkVisibility()), false);
  await closeCleanly(opened);
});

describe("axe-core finds no problems", () => {
  for (const theme of ["light", "dark"])
    for (const display of ["", "shown=graph", "shown=table&search=order", "sandwich=order", "colour=kind&hide=cart&zoom=1-x"])
      test(`${theme}, ${display || "default options"}`, async () => {
        const opened = await pages.open([wireOf(STACKS), [wireOf(BASE), wireOf(STACKS)]], display);
        const { page } = opened;
        await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
        const found = await page.evaluate(`${AXE}; axe.run(document.querySelector("main")).then((result) => result.violations.map((each) =>
          each.impact + " " + each.id + ": " + each.nodes.map((node) => node.html.slice(0, 200) + node.failureSummary).join(" | ")))`);
        assert.deepEqual(found, []);
        await closeCleanly(opened);
      });
});
