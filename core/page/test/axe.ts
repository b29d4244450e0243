/** Accessibility checks with axe-core. */
import axe, { type AxeResults } from "axe-core";
import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";

/** Fails if axe-core finds serious or critical problems in the page. `what` describes the
 * page in the message. The page's policy allows scripts that the DevTools protocol
 * injects. */
export async function accessible(page: Page, what: string): Promise<void> {
  await page.evaluate(axe.source);
  const found = await page.evaluate("axe.run(document)") as AxeResults;
  const bad = found.violations.filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html.slice(0, 150)} ${node.failureSummary ?? ""}`).join(" | ")}`);

  assert.deepEqual(bad, [], what);
}

export async function accessibleInBothThemes(page: Page): Promise<void> {
  for (const theme of ["light", "dark"]) {
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
    await accessible(page, `in the ${theme} theme`);
  }
}
