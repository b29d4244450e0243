// node test/flame.bench.mjs [NODES...]: measures the first drawing, the zoom and the search of
// flame graphs of NODES nodes (default 100000) in headless Chromium. Prints three times in
// milliseconds: until the frame is on the screen, which is longer on a busy machine, and the
// CPU time of the page's thread, in total and in scripts. The first drawing counts from
// opening the file. The search includes the delay after typing.
//
// Prints times and cannot fail. CHROMIUM is the browser (default /usr/bin/chromium).
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import puppeteer from "puppeteer-core";

const sizes = process.argv.slice(2).map(Number);
const here = fileURLToPath(new URL(".", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "spanprof-flame-"));
const RUNS = 3;

/** A tree of `count` nodes, as deep as those of web programs, with count / 10 functions. The
 * random generator is that of Numerical Recipes, so the tree is always the same. */
function treeOf(count) {
  let state = 7;
  const below = (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  const functions = { name: [], file: [], line: [] };
  const nodes = { parent: [0], function: [-1], self: [0] };
  const depth = [0];
  const taken = new Set();
  const kinds = ["Order#total", "Cart.parse", "Pool#checkout", "Json::Decoder#read", "memcpy", "Query#execute"];
  const files = ["/app/models/order.rb", "/usr/lib/ruby/gems/3.1.0/gems/rack-2.2.4/lib/rack.rb", "/lib/libc.so.6", ""];
  for (let id = 0; id < count / 10; id++) {
    functions.name.push(`${kinds[id % kinds.length]}_${id}`);
    functions.file.push(files[id % files.length]);
    functions.line.push(id % 500);
  }
  while (nodes.parent.length < count) {
    const last = nodes.parent.length - 1;
    const parent = below(10) < 6 ? last : below(last + 1);
    const id = below(below(2) === 0 ? count / 10 : count / 100);
    const key = parent * count + id;
    if (depth[parent] >= 80 || taken.has(key))
      continue;
    taken.add(key);
    nodes.parent.push(parent);
    nodes.function.push(id);
    nodes.self.push(below(2) * below(100) * 10_000_000);
    depth.push(depth[parent] + 1);
  }
  return { type: "cpu", unit: "nanoseconds", profiles: 1, functions, nodes };
}

function pageOf(count) {
  const file = join(directory, `${count}.html`);
  const built = join(directory, "page.html");
  const made = spawnSync(process.execPath, [join(here, "../build.mjs"), built], { stdio: "inherit" });
  if (made.status !== 0)
    throw new Error("cannot build the page");
  const side = { tree: treeOf(count), fromMs: 0, untilMs: 1, comments: [], spanNames: [], spans: [] };
  const data = JSON.stringify({ title: "bench", now: side, base: null }).replaceAll("<", "\\u003c");
  writeFileSync(file, readFileSync(built, "utf8").replace("id=\"page-data\">null<", () => `id="page-data">${data}<`));
  return `file://${file}`;
}

/** Runs in the page: records the time at which the first graph is on the screen. */
function watchFirst() {
  const look = () => {
    const drawn = [...document.querySelectorAll(".flame-canvas")].some((canvas) => canvas.style.width !== "");
    if (drawn)
      setTimeout(() => { window.firstDrawnMs = performance.now(); });
    else
      requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

/** Runs in the page: returns the milliseconds from an action until its result is drawn.
 */
async function actUntilDrawn(what) {
  const drawn = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const canvas = [...document.querySelectorAll(".flame-canvas")].find((each) => each.style.width !== "");
  const start = performance.now();
  if (what === "zoom") {
    const box = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 1, clientX: box.left + box.width * 0.2, clientY: box.top + 70 }));
  } else {
    const search = document.querySelector(".flame-search");
    const before = document.querySelector(".flame-found").textContent;
    search.value = what;
    search.dispatchEvent(new Event("input"));
    while ([before, "", "searching\u2026"].includes(document.querySelector(".flame-found").textContent))
      await new Promise((resolve) => setTimeout(resolve));
  }
  await drawn();
  return performance.now() - start;
}

/** The CPU time of the page's thread, in total and in scripts. */
async function metricsOf(session) {
  const { metrics } = await session.send("Performance.getMetrics");
  const value = (wanted) => metrics.find(({ name }) => name === wanted).value * 1000;

  return [value("TaskDuration"), value("ScriptDuration")];
}

async function measured(session, act) {
  const before = await metricsOf(session);
  const wall = await act();
  const after = await metricsOf(session);
  return [wall, after[0] - before[0], after[1] - before[1]];
}

async function runOf(browser, address) {
  const page = await browser.newPage();
  await page.setViewport({ width: 1400, height: 900 });
  await page.evaluateOnNewDocument(watchFirst);
  const session = await page.createCDPSession();
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const first = await measured(session, async () => {
    await page.goto(address);
    await page.waitForFunction("window.firstDrawnMs", { timeout: 120_000 });
    return await page.evaluate("window.firstDrawnMs");
  });
  const zoom = await measured(session, () => page.evaluate(actUntilDrawn, "zoom"));
  const search = await measured(session, () => page.evaluate(actUntilDrawn, "order"));
  const found = await page.evaluate("document.querySelector('.flame-found').textContent");
  await page.evaluate(actUntilDrawn, "/");
  const pattern = await measured(session, () => page.evaluate(actUntilDrawn, "/[Oo]rder/"));
  await page.close();
  return { first, zoom, search, pattern, found };
}

try {
  const browser = await puppeteer.launch({
    executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
  for (const size of sizes.length > 0 ? sizes : [100_000]) {
    const address = pageOf(size);
    const runs = [];
    for (let run = 0; run < RUNS; run++)
      runs.push(await runOf(browser, address));
    console.log(`${size} nodes, the best of ${RUNS} (${runs[0].found})`);
    for (const what of ["first", "zoom", "search", "pattern"]) {
      const [wall, task, script] = [0, 1, 2].map((at) => Math.min(...runs.map((run) => run[what][at])).toFixed(0).padStart(6));
      console.log(`  ${what.padEnd(7)} ${wall} ms until drawn, ${task} ms of the thread, ${script} ms of scripts`);
    }
  }
  await browser.close();
} finally {
  rmSync(directory, { recursive: true, force: true });
}
