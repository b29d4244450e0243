// node test/run.mjs [NAME...]: bundles test/*.test.ts, or only NAME.test.ts, and runs them with
// Node's test runner, one file at a time.
//
// SPANPROF_SERVER   path of spanprof-server
// SPANPROF_COMMAND  path of spanprof
// CHROMIUM          path of Chromium (default /usr/bin/chromium)
// FIREFOX           path of Firefox (default /usr/bin/firefox-esr)
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const names = process.argv.slice(2);
const files = readdirSync(here).filter((file) => file.endsWith(".test.ts")
  && (names.length === 0 || names.includes(basename(file, ".test.ts"))));
const made = mkdtempSync(`${here}../node_modules/.test-`);

if (files.length === 0) {
  console.error(`no test named ${names.join(" or ")}`);
  process.exit(2);
}
await build({
  entryPoints: files.map((file) => here + file),
  bundle: true,
  platform: "node",
  format: "esm",
  packages: "external",
  outdir: made,
  outExtension: { ".js": ".mjs" },
  sourcemap: "inline",
  logLevel: "warning",
});
const run = spawnSync(process.execPath, ["--enable-source-maps", "--test", "--test-reporter=tap", "--test-concurrency=1",
  ...files.map((file) => `${made}/${file.replace(/\.ts$/, ".mjs")}`)], { stdio: "inherit" });
rmSync(made, { recursive: true });
process.exit(run.status ?? 1);
