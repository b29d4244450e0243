/** Takes the screenshot for the README: six seconds of examples/ruby, whose profiles are in
 * test/rideshare/. SPANPROF_PICTURE is the file to write. */
import { test } from "node:test";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { closeCleanly, open, startBrowser } from "./browser.ts";
import { waitForPaint, waitForQuiet } from "./wait.ts";
import { Server } from "./server.ts";

const BYTES_MAX = 150_000;
const PROFILES = join(process.cwd(), "test/rideshare");

test("the screenshot of a real profile is small enough", async () => {
  const server = await Server.start("--retention", "0", "--ingest-window", "off");
  const browser = await startBrowser();

  try {
    const files = readdirSync(PROFILES).map((name) => join(PROFILES, name));
    execFileSync(process.env["SPANPROF_COMMAND"] ?? "spanprof", ["upload", "--server", server.base, ...files], { stdio: "ignore" });
    const gaps = await (await fetch(new URL("api/v1/gaps?from=now-1m", server.base))).json() as { before: number };
    const query = new URLSearchParams({
      query: '{service_name="rideshare-ruby"}', from: String(gaps.before - 50_000), until: String(gaps.before + 10_000), mine: "1", colour: "name",
    });
    const opened = await open(browser, `${server.base}spans?${query.toString()}`, 1280, 720);
    await opened.page.emulateTimezone("UTC");
    await opened.page.reload();
    await waitForPaint(opened.page);
    await waitForQuiet(opened.page);
    const picture = await opened.page.screenshot({ type: "png" });
    assert.ok(picture.length > 20_000 && picture.length <= BYTES_MAX, `it has ${picture.length} bytes`);
    if (process.env["SPANPROF_PICTURE"])
      writeFileSync(process.env["SPANPROF_PICTURE"], picture);
    await closeCleanly(opened);
  } finally {
    await browser.close();
  }
});
