/** Opens a page of flame graph panels in a browser, with the policy of the real page. */
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Browser } from "puppeteer-core";
import type { WireTree } from "../src/model/wire.ts";
import { open, type Opened } from "./browser.ts";
import type { PageData } from "./flame_page.ts";

/** The folder of the package. The bundled tests are two levels below. */
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export class FlamePages {
  private readonly directory = mkdtempSync(join(tmpdir(), "spanprof-flame-"));
  private count = 0;

  private constructor(private readonly browser: Browser, private readonly script: string, private readonly style: string) {}

  static async of(browser: Browser): Promise<FlamePages> {
    const made = await build({
      absWorkingDir: ROOT, entryPoints: ["test/flame_page.ts", "src/page.css"], bundle: true, format: "iife", charset: "ascii",
      outdir: "out", write: false, logLevel: "warning",
    });
    const output = (ending: string): string => made.outputFiles.find((file) => file.path.endsWith(ending))!.text.trim();

    return new FlamePages(browser, output(".js"), output(".css"));
  }

  /** `display` has the display options for the address's fragment. */
  async open(trees: PageData["trees"], display = "", width = 1400): Promise<Opened> {
    return await open(this.browser, `file://${this.write(trees)}#${display}`, width);
  }

  private write(trees: PageData["trees"]): string {
    const hash = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
    const data = JSON.stringify({ trees } satisfies PageData).replaceAll("<", "\\u003c");
    const path = join(this.directory, `${++this.count}.html`);

    writeFileSync(path, readFileSync(join(ROOT, "src/page.html"), "utf8")
      .replace("@policy@", () => `default-src 'none'; script-src ${hash(this.script)}; style-src ${hash(this.style)}; worker-src blob:; img-src data: blob:`)
      .replace("@style@", () => this.style).replace("@script@", () => this.script)
      .replace("id=\"page-data\">null<", () => `id="page-data">${data}<`));
    return path;
  }

  dispose(): void {
    rmSync(this.directory, { recursive: true });
  }
}

/** Builds a tree from folded stacks and their values. */
export function wireOf(folded: Readonly<Record<string, number>>, fileOf: (name: string) => string = () => "/app/a.rb"): WireTree {
  const functions: WireTree["functions"] = { name: [], file: [], line: [] };
  const nodes: WireTree["nodes"] = { parent: [0], function: [-1], self: [0] };
  const known = new Map<string, number>([["", 0]]);
  const ids = new Map<string, number>();

  function functionOf(name: string): number {
    let id = ids.get(name);
    if (id === undefined) {
      id = functions.name.push(name) - 1;
      functions.file.push(fileOf(name));
      functions.line.push(id + 1);
      ids.set(name, id);
    }
    return id;
  }

  for (const [stack, value] of Object.entries(folded)) {
    let path = "";
    let node = 0;
    for (const name of stack.split(";")) {
      path += `;${name}`;
      let next = known.get(path);
      if (next === undefined) {
        next = nodes.parent.push(node) - 1;
        nodes.function.push(functionOf(name));
        nodes.self.push(0);
        known.set(path, next);
      }
      node = next;
    }
    nodes.self[node]! += value;
  }
  return { type: "cpu", unit: "nanoseconds", profiles: 1, functions, nodes };
}
