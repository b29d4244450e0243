// node test/open.bench.mjs: measures the time from opening an address until its flame graph is
// on the screen of headless Chromium, for one hour and for 24 hours of an application that
// uploads every 10 s. Prints the best and the worst run, each in a new tab, and the part of the
// time that the flame graph's request takes. The first page of a new browser is printed
// separately, since the browser then loads fonts and starts threads.
//
// Prints times and cannot fail. SPANPROF_SERVER is spanprof-server, SPANPROF_FILL is
// bench_server_fill of tests/bench/server, CHROMIUM is the browser (default /usr/bin/chromium).
import { mkdtempSync, rmSync } from "node:fs";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import puppeteer from "puppeteer-core";

const PROFILES_OF_A_DAY = 8640;
const HOUR_MS = 3_600_000;
const RUNS = 5;
const directory = mkdtempSync(join(tmpdir(), "spanprof-open-"));

function program(variable) {
  const path = process.env[variable];

  if (!path)
    throw new Error(`${variable} is not set`);
  return path;
}

/** Fills the store with the profiles of a day and returns their start time. */
function fill() {
  const made = spawnSync(program("SPANPROF_FILL"), [directory, "ruby", "1", `${PROFILES_OF_A_DAY}`, "10"],
    { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

  if (made.status !== 0)
    throw new Error("cannot fill the store");
  return JSON.parse(made.stdout).from_ms;
}

async function serve() {
  const server = spawn(program("SPANPROF_SERVER"), ["--listen", "127.0.0.1:0", "--data", directory, "--retention", "0"],
    { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(server.stdout, "data");
  return { server, base: /http:\/\/127\.0\.0\.1:\d+/.exec(line.toString())[0] };
}

/** Runs in the page: records the time at which the frame with the first graph is painted. A
 * task queued during drawing runs after that. */
function watchFirst() {
  const observer = new MutationObserver(() => {
    if (![...document.querySelectorAll(".flame-canvas")].some((canvas) => canvas.style.width !== ""))
      return;
    observer.disconnect();
    setTimeout(() => { window.firstDrawnMs = performance.now(); });
  });
  observer.observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["style"] });
}

/** Runs in the page: the duration of the request for the flame graph. */
function queryMs() {
  const asked = performance.getEntriesByType("resource").find(({ name }) => name.includes("/api/v1/profile"));
  return asked ? asked.responseEnd - asked.startTime : NaN;
}

async function run(browser, address) {
  const page = await browser.newPage();
  await page.setViewport({ width: 1400, height: 900 });
  await page.evaluateOnNewDocument(watchFirst);
  await page.goto(address);
  await page.waitForFunction("window.firstDrawnMs", { timeout: 60_000 });
  const times = [await page.evaluate("window.firstDrawnMs"), await page.evaluate(queryMs)];
  await page.close();
  return times;
}

try {
  const from = fill();
  const { server, base } = await serve();
  const browser = await puppeteer.launch({
    executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
  const address = (hours) => `${base}/?${new URLSearchParams({ query: "app-0.cpu", from: `${from}`, until: `${from + hours * HOUR_MS}` })}`;
  const [newMs, newQueryMs] = await run(browser, address(1));
  console.log(`1 h, a new browser's first page: drawn after ${newMs.toFixed(0)} ms, including ${newQueryMs.toFixed(0)} ms for its request`);
  for (const hours of [1, 24]) {
    const runs = [];
    for (let i = 0; i < RUNS; i++)
      runs.push(await run(browser, address(hours)));
    const all = (at) => runs.map((times) => times[at]).sort((a, b) => a - b);
    console.log(`${hours} h: drawn after ${all(0)[0].toFixed(0)} to ${all(0).at(-1).toFixed(0)} ms, `
      + `including ${all(1)[0].toFixed(0)} to ${all(1).at(-1).toFixed(0)} ms for its request`);
  }
  await browser.close();
  server.kill("SIGTERM");
  await once(server, "exit");
} finally {
  rmSync(directory, { recursive: true, force: true });
}
