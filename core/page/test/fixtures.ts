/** The browser, pages and server that all tests of a file use. They start before the tests and
 * stop after them. */
import { after, before } from "node:test";
import type { Browser, Page } from "puppeteer-core";
import { open, startBrowser, type Opened } from "./browser.ts";
import { FlamePages } from "./flame_browser.ts";
import { Server } from "./server.ts";

/** Starts a browser, which opens pages with a panel of a flame graph. */
export function useFlamePages(): Pick<FlamePages, "open"> {
  let browser: Browser;
  let pages: FlamePages;

  before(async () => {
    browser = await startBrowser();
    pages = await FlamePages.of(browser);
  });
  after(async () => {
    pages.dispose();
    await browser.close();
  });
  return { open: async (...parts) => await pages.open(...parts) };
}

export interface Served {
  readonly base: string;
  /** Opens `path` on the server, or on another server whose address is `base`. */
  at(path: string, base?: string): Promise<Opened>;
}

/** Starts a server that accepts profiles of any time. `fill` pushes its data. */
export function useServer(fill: (server: Server) => Promise<void>): Served {
  let browser: Browser;
  let server: Server;

  before(async () => {
    server = await Server.start("--ingest-window", "off");
    browser = await startBrowser();
    await fill(server);
  });
  after(async () => {
    await browser.close();
  });
  return {
    get base() {
      return server.base;
    },
    at: async (path, base = server.base) => await open(browser, base + path),
  };
}

/** Replaces the text of the query box by typing. */
export async function typeQuery(page: Page, query: string): Promise<void> {
  await page.focus(".query");
  await page.$eval(".query", (field) => { (field as HTMLInputElement).select(); });
  await page.keyboard.type(query);
}
