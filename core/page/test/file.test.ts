import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { Browser } from "puppeteer-core";
import { accessible } from "./axe.ts";
import { closeCleanly, open, startBrowser, type Opened } from "./browser.ts";
import { Directory, madeProfile, spanprof } from "./profiles.ts";

const HOSTILE = ["</script><script>alert(1)</script>", "<!--<script>", "<img src=x onerror=alert(1)>", "javascript:alert(1)",
  "\u202egnp.exe", "\u2028\u2029", "a".repeat(100_000)];
let browser: Browser;
let files: Directory;

before(async () => {
  files = new Directory();
  browser = await startBrowser();
});
after(async () => {
  await browser.close();
  files.dispose();
});

function page(name: string, ...words: string[]): string {
  const path = `${files.path}/${name}.html`;

  spanprof("report", "--html", path, ...words);
  return pathToFileURL(path).href;
}

function shop(name: string, cart: number): string {
  return files.write(`${name}.pb`, madeProfile([
    { stack: ["main", "work"], count: cart, span: "GET /cart", spanId: "08d12e6b76c84d11" },
    { stack: ["main", "work", "deep"], count: 50, span: "POST /pay", spanId: "18d12e6b76c84d11" },
    { stack: ["main", "idle"], count: 3 },
  ], ["samples dropped: 7"], 1795435347000));
}

async function textOf(opened: Opened, selector: string): Promise<string> {
  return await opened.page.$$eval(selector, (all) => all.map((each) => each.textContent).join("|"));
}

/** The text of the table of functions. */
async function functionsOf(opened: Opened): Promise<string> {
  return await textOf(opened, ".flame-table");
}

test("a report opens from disk with spans, comments and stacks", async () => {
  const opened = await open(browser, page("shop", shop("shop", 100)));

  assert.equal(await textOf(opened, "h1"), "shop.pb");
  assert.match(await textOf(opened, ".file-head p"), /^CPU 1\.53 s \u00b7 153 samples \u00b7 1 profile \u00b7 /);
  assert.match(await textOf(opened, ".file-spans > .file-scroll tbody tr"), /^GET \/cart1\.00 s65\.4 %.*\|POST \/pay.*\|\(no span\)30\.0 ms/);
  assert.equal(await textOf(opened, ".file-spans > .file-scroll tbody tr.file-few th"), "(no span)");
  assert.match(await textOf(opened, ".file-notes li"), /samples dropped: 7/);
  assert.match(await textOf(opened, ".file-top-spans tbody"), /08d12e6b76c84d11/);
  assert.match(await functionsOf(opened), /work.*deep|deep.*work/s);
  await closeCleanly(opened);
});

test("a span name shows its stacks, also after a reload", async () => {
  const opened = await open(browser, page("pick", shop("pick", 100)));
  const pick = ".file-spans > .file-scroll tbody tr:nth-child(2) th button";

  await opened.page.click(pick);
  assert.equal(await opened.page.$eval(pick, (each) => each.getAttribute("aria-pressed")), "true");
  assert.match(await functionsOf(opened), /deep/);
  assert.doesNotMatch(await functionsOf(opened), /idle/);
  const address = opened.page.url();
  assert.match(address, /#span=%3DPOST\+%2Fpay$/);
  await opened.page.reload();
  assert.doesNotMatch(await functionsOf(opened), /idle/);
  await opened.page.click(".file-tools > button");
  assert.match(await functionsOf(opened), /idle/);
  assert.doesNotMatch(opened.page.url(), /span=/);
  await closeCleanly(opened);
});

test("only the largest of many span names have stacks, and only 500 rows are shown", async () => {
  const many = Array.from({ length: 1200 }, (_, at) => ({ stack: ["main", `f${at % 7}`], count: at + 1, span: `name ${String(at).padStart(4, "0")}` }));
  const opened = await open(browser, page("many", files.write("many.pb", madeProfile(many))));
  const { page: view } = opened;
  const rows = ".file-spans > .file-scroll tbody tr";

  assert.equal(await view.$eval(`${rows} th`, (head) => head.textContent), "name 1199");
  assert.equal((await view.$$(`${rows} th button`)).length, 256);
  assert.equal((await view.$$(`${rows} th`)).length, 500);
  assert.equal(await view.$eval(`${rows}:last-child`, (row) => row.textContent), "700 more: search by name");
  await view.click(`${rows} th button`);
  assert.match(await textOf(opened, ".file-chosen"), /name 1199/);
  await view.type("input[type=search][aria-label='Find a span name']", "name 0003");
  assert.equal((await view.$$(rows)).length, 1);
  await closeCleanly(opened);
});

test("a report with 150,000 span names opens", async () => {
  const opened = await open(browser, page("shop-names", shop("names", 100)));
  const html = readFileSync(`${files.path}/shop-names.html`, "utf8");
  const name = { name: "x", service: null, self: 0, total: 1, samples: 1, traced: 0, spans: 1 };
  const names = Array.from({ length: 150_000 }, (_, at) => ({ ...name, name: `name ${at}` }));

  await closeCleanly(opened);
  const large = files.write("large.html", html.replace('"spanNames":[', () => `"spanNames":${JSON.stringify(names).slice(0, -1)},`));
  const other = await open(browser, pathToFileURL(large).href);
  assert.match(await textOf(other, ".file-spans > .file-scroll tbody tr th"), /^GET \/cart/);
  await closeCleanly(other);
});

test("a change of the fragment changes the page", async () => {
  const opened = await open(browser, page("hash", shop("hash", 100)));

  await opened.page.evaluate(() => { location.hash = "span=%3DPOST+%2Fpay"; });
  await opened.page.waitForSelector(".file-chosen");
  assert.match(await textOf(opened, ".file-chosen"), /POST \/pay/);
  assert.doesNotMatch(await functionsOf(opened), /idle/);
  await opened.page.evaluate(() => { location.hash = "search=idle"; });
  await opened.page.waitForFunction(() => document.querySelector(".file-chosen") === null);
  assert.match(await functionsOf(opened), /idle/);
  assert.equal(await opened.page.$eval("input.flame-search", (field) => field.value), "idle");
  await closeCleanly(opened);
});

test("a report opened from disk stops a pattern with excessive backtracking", async () => {
  const name = "a".repeat(100);
  const opened = await open(browser, `${page("pattern", files.write("pattern.pb", madeProfile([{ stack: ["main", `${name}!`], count: 20 }])))}#search=%2F%5E%28a%2B%29%2B%24%2F`);
  const { page: seen } = opened;
  const resultStarts = async (start: string): Promise<void> => {
    await seen.waitForFunction((wanted) => document.querySelector(".flame-found")!.textContent.startsWith(wanted), { timeout: 20_000 }, start);
  };

  await resultStarts("Pattern stopped after 2 s");
  await seen.$eval(".flame-search", (box) => {
    (box as HTMLInputElement).value = "/^MAIN$/i";
    box.dispatchEvent(new Event("input"));
  });
  await resultStarts("100.0 %");
  await closeCleanly(opened);
});

test("a comparison shows the samples of both sides and marks few samples", async () => {
  const opened = await open(browser, page("few", "--diff", shop("few-old", 40), shop("few-new", 100)));
  const rows = await opened.page.$$eval(".flame-rows [role='row']", (found) => Object.fromEntries(found.map((row) => [row.children[0]!.textContent, row.children[5]!.textContent])));

  assert.deepEqual(rows, { main: "93 \u2192 153", work: "90 \u2192 150", deep: "50 \u2192 50", idle: "3 \u2192 3 few" });
  await closeCleanly(opened);
});

test("a comparison shows the difference and each side", async () => {
  const opened = await open(browser, page("diff", "--diff", shop("old", 40), shop("new", 400)));

  assert.match(await textOf(opened, ".file-spans > .file-scroll tbody tr"), /^GET \/cart400 ms4\.00 s\+3\.60 s \(\+900\.0 %\)/);
  assert.match(await functionsOf(opened), /\+3\.60 s/);
  await opened.page.click("[data-side=base]");
  assert.doesNotMatch(await functionsOf(opened), /\+3\.60 s/);
  assert.match(await functionsOf(opened), /930 ms/);
  await opened.page.click(".file-spans > .file-scroll tbody tr:nth-child(1) th button");
  assert.match(await functionsOf(opened), /400 ms/);
  await closeCleanly(opened);
});

test("a report without samples is explained", async () => {
  const opened = await open(browser, page("none", "--span-name", "nothing", shop("none", 1)));

  assert.match(await textOf(opened, "[role=status]"), /No samples match/);
  await closeCleanly(opened);
});

test("names are shown as text", async () => {
  const profile = madeProfile(HOSTILE.map((name) => ({ stack: ["main", name], count: 20, span: name.slice(0, 2000) })),
    HOSTILE.map((name) => name.slice(0, 300)));
  const opened = await open(browser, page("hostile", "--title", HOSTILE[0]! + HOSTILE[4]!, files.write("hostile.pb", profile)));

  assert.equal(await opened.page.$$eval("script", (all) => all.length), 2);
  assert.equal(await opened.page.$$eval("img", (all) => all.length), 0);
  const seen = await opened.page.$eval("#app", (app) => app.textContent);
  assert.match(seen, /<\/script><script>alert\(1\)<\/script>/);
  assert.doesNotMatch(seen, /[\u202e\u2028]/);
  assert.ok(seen.length < 100_000, "long names are cut");
  assert.ok(await opened.page.$eval("body", (body) => body.scrollWidth <= innerWidth), "nothing is wider than the window");
  await closeCleanly(opened);
});

test("axe finds no serious problems in both themes and on narrow screens", async () => {
  const address = page("axe", "--diff", shop("axe-old", 40), shop("axe", 100));

  for (const [width, scheme] of [[1400, "light"], [700, "dark"]] as const) {
    const opened = await open(browser, address, width);
    await opened.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await accessible(opened.page, `${width} ${scheme}`);
    await closeCleanly(opened);
  }
});

test("the policy allows only the page's own script", () => {
  page("policy", shop("policy", 1));
  const text = readFileSync(`${files.path}/policy.html`, "utf8");

  assert.match(text, /default-src 'none'; script-src 'sha256-/);
  assert.doesNotMatch(text, /unsafe-(inline|eval)/);
});
