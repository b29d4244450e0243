/** What axe-core finds against WCAG A and AA in a page, light and dark. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "puppeteer-core";

const SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Found {
  id: string;
  impact: string | null;
  nodes: { html: string; any: { message: string }[] }[];
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(SOURCE);
  const found = await page.evaluate(`axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] }).then((result) => result.violations)`) as Found[];

  return found.filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ html, any }) => `${id}: ${html.slice(0, 160)} ${any[0]?.message ?? ""}`));
}

export async function accessible(page: Page): Promise<void> {
  for (const theme of ["light", "dark"]) {
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
    assert.deepEqual(await violations(page), [], `in the ${theme} theme`);
  }
}
