/** This page with stacks put into it, as one file: made of its own document, so
 * that it works without a server, too. */
import type { Tree } from "../model/tree.ts";
import type { WireFile, WireFileSide } from "../model/wire.ts";

function sideOf(tree: Tree, self: Float64Array, samples: Float64Array | null): WireFileSide {
  const nodes = { parent: Array.from(tree.parent), function: Array.from(tree.functionOf), self: Array.from(self) };
  const { name, file, line } = tree.functions;
  const sum = (values: Float64Array): number => values.reduce((all, each) => all + each, 0);

  return {
    fromMs: 0, untilMs: 0, samples: samples ? sum(samples) : 0, all: sum(self), comments: [], spanNames: [], spans: [],
    tree: {
      type: tree.type, unit: tree.unit, profiles: 0, functions: { name: [...name], file: [...file], line: [...line] },
      nodes: samples ? { ...nodes, samples: Array.from(samples) } : nodes,
    },
  };
}

export function fileOf(tree: Tree, title: string): WireFile {
  return { title, now: sideOf(tree, tree.self, tree.samples), base: tree.baseSelf ? sideOf(tree, tree.baseSelf, tree.baseSamples) : null };
}

/** JSON that ends no element. */
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
  // What was opened beside the page's own elements stays behind.
  for (const child of [...root.querySelector("body")!.children])
    if (child !== place && !["SCRIPT", "NOSCRIPT"].includes(child.tagName))
      child.remove();
  // Read, not written: what the parser made of this page's own source.
  // eslint-disable-next-line no-restricted-properties
  return `<!doctype html>\n${root.outerHTML}\n`;
}
