/** A test page with only panels. They are linked, as in Compare, and their display options
 * are in the address's fragment. */
import { canvasOf, flamePanel, svgOf, type DisplayOptions } from "../src/flame/panel.ts";
import { treeOf, treeOfPair } from "../src/model/tree.ts";
import type { WireTree } from "../src/model/wire.ts";

export interface PageData {
  /** One panel for each element. A pair of trees is a comparison. */
  trees: (WireTree | [WireTree, WireTree])[];
}

function writeDisplay(change: DisplayOptions): void {
  const display = new URLSearchParams(location.hash.slice(1));

  for (const [name, value] of Object.entries(change))
    if (value === "")
      display.delete(name);
    else
      display.set(name, value);
  history.replaceState(null, "", `#${display.toString()}`);
}

const data = JSON.parse(document.getElementById("page-data")!.textContent) as PageData;
const display = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
const panels = data.trees.map((tree, at) => flamePanel({
  origin: () => ({ lines: ["shop.cpu"], link: "http://server.example/", range: null, profile: null, functionLines: null }),
  tree: Array.isArray(tree) ? treeOfPair(...tree) : treeOf(tree),
  display, title: `panel ${at}`,
  onDisplayChange: (change) => {
    writeDisplay(change);
    panels.forEach((other, place) => {
      if (place !== at)
        other.setDisplay(change);
    });
  },
}));
const main = document.createElement("main");

main.append(...panels.map((panel) => panel.element));
document.getElementById("app")!.append(main);
Object.assign(window, { panels, svgOf, canvasOf, treeOf });
