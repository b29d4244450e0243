/** What axe-core finds in a page that it calls serious or critical: nothing. */
import axe, { type AxeResults } from "axe-core";
import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";

/** As the page is shown now; `what` is said where it fails. The page's policy
 * allows no script of a document's; what comes by the protocol is let in. */
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
