/** Exports this page as one file that contains its data. The file is a copy of the
 * page's own document, so exported pages can export, too. */
import type { DisplayOptions } from "../flame/display.ts";
import type { Origin } from "./origin.ts";
import type { Tree } from "../model/tree.ts";
import type { WireFile, WireFileSide, WireTree } from "../model/wire.ts";

/** The functions that occur in the tree, so that the file omits the names of others. */
function functionsOf(tree: Tree): { number: Int32Array; functions: WireTree["functions"] } {
  const { name, file, line } = tree.functions;
  const number = new Int32Array(name.length).fill(-1);
  const functions: WireTree["functions"] = { name: [], file: [], line: [] };

  for (const id of tree.functionOf) {
    if (id < 0 || number[id]! >= 0)
      continue;
    number[id] = functions.name.push(name[id]!) - 1;
    functions.file.push(file[id]!);
    functions.line.push(line[id]!);
  }
  return { number, functions };
}

function sideOf(tree: Tree, self: Float64Array, samples: Float64Array | null): WireFileSide {
  const { number, functions } = functionsOf(tree);
  const nodes = { parent: Array.from(tree.parent), function: Array.from(tree.functionOf, (id) => id < 0 ? id : number[id]!), self: Array.from(self) };
  const sum = (values: Float64Array): number => values.reduce((all, each) => all + each, 0);

  return {
    fromMs: 0, untilMs: 0, samples: samples ? sum(samples) : 0, all: sum(self), comments: [], spanNames: [], spans: [],
    tree: { type: tree.type, unit: tree.unit, profiles: 0, merged: tree.merged, functions, nodes: samples ? { ...nodes, samples: Array.from(samples) } : nodes },
  };
}

/** The display options that change the tree. */
const IN_TREE = ["focus", "hide", "mine", "recursion"] as const;

/** Whether the display options leave the tree unchanged. */
export function isWhole(display: DisplayOptions): boolean {
  return IN_TREE.every((name) => display[name] === undefined);
}

/** The data of an exported page. `tree` already has these options applied, so the file has only the other display options. */
export function fileOf(tree: Tree, title: string, display: DisplayOptions, { lines: lines, link, range }: Origin): WireFile {
  const inTree: readonly string[] = IN_TREE;

  return {
    title, display: { ...tree.comparison && { scale: tree.comparison.scale }, ...Object.fromEntries(Object.entries(display).filter(([name]) => !inTree.includes(name))) },
    origin: { says: [...lines], link },
    now: { ...sideOf(tree, tree.self, tree.samples), ...range }, base: tree.baseSelf ? sideOf(tree, tree.baseSelf, tree.baseSamples) : null,
  };
}

/** JSON without characters that could end the script element. */
function inHtml(data: unknown): string {
  return JSON.stringify(data).replace(/[<>&\u2028\u2029]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export function pageOf(file: WireFile): string {
  const root = document.documentElement.cloneNode(true) as HTMLElement;
  const place = root.querySelector("#app")!;

  root.removeAttribute("data-theme");
  root.querySelector("title")!.textContent = "spanprof";
  place.replaceChildren();
  root.querySelector("#page-data")!.textContent = inHtml(file);
  // Remove elements that browser extensions or menus added to the body.
  for (const child of [...root.querySelector("body")!.children])
    if (child !== place && !["SCRIPT", "NOSCRIPT"].includes(child.tagName))
      child.remove();
  // The property is only read, and the document was parsed from this page's own source.
  // eslint-disable-next-line no-restricted-properties
  return `<!doctype html>\n${root.outerHTML}\n`;
}
