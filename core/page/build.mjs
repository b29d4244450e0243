// node build.mjs FILE: writes the page as one HTML file, which fetches only its server's
// responses. The content security policy allows its script and style by their hashes, so
// no other script can run in the page, wherever it is opened from.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const BYTES_MAX = 500_000;
const here = fileURLToPath(new URL(".", import.meta.url));
const target = process.argv[2] ?? `${here}dist/page.html`;

const made = await build({
  absWorkingDir: here,
  entryPoints: ["src/main.ts", "src/page.css"],
  bundle: true,
  minify: true,
  charset: "ascii",
  format: "iife",
  target: ["es2022", "chrome123", "firefox120", "safari17.5"],
  legalComments: "none",
  outdir: "dist",
  write: false,
  logLevel: "warning",
});

function output(ending) {
  const text = made.outputFiles.find((file) => file.path.endsWith(ending)).text.trim();
  if (/<\/(script|style)/i.test(text))
    throw new Error(`the ${ending} file contains the end tag of its own element`);
  return text;
}

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const script = output(".js");
const style = output(".css");
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)}`,
  `style-src ${hash(style)}`,
  "connect-src 'self'",
  // For the worker that matches regular expressions: its script is a blob, made from a
  // part of the page's script.
  "worker-src blob:",
  "img-src data: blob:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");
// The replacements are functions, because replace() interprets "$&" in a text.
const page = readFileSync(`${here}src/page.html`, "utf8")
  .replace("@policy@", () => policy)
  .replace("@style@", () => style)
  .replace("@script@", () => script);
if (Buffer.byteLength(page) > BYTES_MAX)
  throw new Error(`the page has ${Buffer.byteLength(page)} bytes, more than the limit of ${BYTES_MAX}`);
mkdirSync(dirname(target), { recursive: true });
writeFileSync(target, page);
