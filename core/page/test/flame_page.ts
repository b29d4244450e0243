/** A test page with only panels. They are linked, as in Compare, and their display options
 * are in the address's fragment. */
import { canvasOf, flamePanel, svgOf, type Look } from "../src/flame/panel.ts";
import { treeOf, treeOfPair } from "../src/model/tree.ts";
import type { WireTree } from "../src/model/wire.ts";

export interface Held {
  /** One panel for each element. A pair of trees is a comparison. */
  trees: (WireTree | [WireTree, WireTree])[];
}

function noteLook(change: Look): void {
  const look = new URLSearchParams(location.hash.slice(1));

  for (const [name, value] of Object.entries(change))
    if (value === "")
      look.delete(name);
    else
      look.set(name, value);
  history.replaceState(null, "", `#${look.toString()}`);
}

const held = JSON.parse(document.getElementById("page-data")!.textContent) as Held;
const look = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
const panels = held.trees.map((tree, at) => flamePanel({
  origin: () => ({ says: ["shop.cpu"], link: "http://server.example/", range: null, profile: null }),
  tree: Array.isArray(tree) ? treeOfPair(...tree) : treeOf(tree),
  look, title: `panel ${at}`,
  onLook: (change) => {
    noteLook(change);
    panels.forEach((other, place) => {
      if (place !== at)
        other.setLook(change);
    });
  },
}));
const main = document.createElement("main");

main.append(...panels.map((panel) => panel.element));
document.getElementById("app")!.append(main);
Object.assign(window, { panels, svgOf, canvasOf, treeOf });
