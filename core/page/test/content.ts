/** Reads the content of a page as text. */
import type { Page } from "puppeteer-core";

/** Waits for the rows of a table and returns the texts of their cells. */
export async function rowsOf(page: Page, label: string): Promise<string[][]> {
  const table = `table[aria-label="${label}"]`;

  await page.waitForSelector(`${table} tbody tr`);
  return await page.$$eval(`${table} tbody tr`, (rows) => rows.map((row) => Array.from(row.children, (cell) => cell.textContent.trim())));
}

export async function textOf(page: Page, selector: string): Promise<string> {
  await page.waitForSelector(selector);
  return await page.$eval(selector, (element) => element.textContent);
}

export async function waitForPageText(page: Page, text: string): Promise<void> {
  await page.waitForFunction((wanted) => document.body.innerText.includes(wanted), { timeout: 8000 }, text);
}
