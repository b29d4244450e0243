/** Starts browsers and opens pages. Errors, violations of the page's policy and requests to
 * other servers fail the test that opened the page. */
import puppeteer, { type Browser, type Page } from "puppeteer-core";
import assert from "node:assert/strict";
import { existsSync } from "node:fs";

export async function startBrowser(): Promise<Browser> {
  return await puppeteer.launch({
    executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--force-color-profile=srgb"],
    headless: true,
  });
}

const FIREFOX = process.env["FIREFOX"] ?? "/usr/bin/firefox-esr";

/** The reason to skip tests in Firefox; false if it is installed. */
export const firefoxIsMissing = existsSync(FIREFOX) ? false : `no Firefox at ${FIREFOX}`;

export async function startFirefox(): Promise<Browser> {
  return await puppeteer.launch({ browser: "firefox", executablePath: FIREFOX, headless: true });
}

const READY_MS = 15_000;
const READERS = ["$", "$$", "$eval", "$$eval", "click", "evaluate", "focus", "hover", "type", "waitForFunction", "waitForSelector"] as const;

/** Makes these functions of a page wait while the page still shows the dimmed results of the
 * previous view, which a test must not read. The functions of page.mainFrame() do not wait. */
function waitForResults(page: Page): void {
  const isReady = async (): Promise<unknown> =>
    await page.mainFrame().waitForFunction(() => !document.querySelector("#view > [inert]"), { timeout: READY_MS });

  for (const name of READERS) {
    const read = page[name].bind(page) as (...parts: unknown[]) => Promise<unknown>;
    Object.assign(page, { [name]: async (...parts: unknown[]) => {
      await isReady();
      return await read(...parts);
    } });
  }
}

/** `faults` collects the errors of the page. */
export interface Opened {
  page: Page;
  faults: string[];
}

export async function open(browser: Browser, address: string, width = 1400, height = 900): Promise<Opened> {
  const page = await browser.newPage();
  const faults: string[] = [];

  await page.setViewport({ width, height });
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => {
    // Ignore failed requests, which the browser logs: the page shows them, and tests
    // check what it shows.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      faults.push(message.text());
  });
  page.on("dialog", (dialog) => {
    faults.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const own = new URL(request.url());
    if (/^https?:$/.test(own.protocol) && own.host !== new URL(address).host)
      faults.push(`a request to ${request.url()}`);
  });
  await page.goto(address, { waitUntil: "load" });
  waitForResults(page);
  return { page, faults };
}

/** Closes a page and fails if it had errors. */
export async function closeCleanly(opened: Opened): Promise<void> {
  await opened.page.close();
  assert.deepEqual(opened.faults, []);
}
