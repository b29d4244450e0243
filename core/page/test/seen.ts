/** What a page shows, as texts. */
import type { Page } from "puppeteer-core";

/** The cells of a table's rows, once it has some. */
export async function rowsOf(page: Page, label: string): Promise<string[][]> {
  const table = `table[aria-label="${label}"]`;

  await page.waitForSelector(`${table} tbody tr`);
  return await page.$$eval(`${table} tbody tr`, (rows) => rows.map((row) => Array.from(row.children, (cell) => cell.textContent.trim())));
}

export async function textOf(page: Page, selector: string): Promise<string> {
  await page.waitForSelector(selector);
  return await page.$eval(selector, (element) => element.textContent);
}

export async function sees(page: Page, text: string): Promise<void> {
  await page.waitForFunction((wanted) => document.body.innerText.includes(wanted), { timeout: 8000 }, text);
}
