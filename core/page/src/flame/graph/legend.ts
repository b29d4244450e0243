/** The legend of a graph's colours. */
import { percent } from "../../parts/format.ts";
import { h, safeText } from "../../parts/dom.ts";
import { fillsOf, kindFill, packageFill, themeOf, type Colour } from "./colour.ts";
import type { Graph } from "./graph.ts";
import { kindOf, KIND_NAMES, KINDS, packageOf } from "../stacks/package.ts";
import type { Rows } from "../table/rows.ts";

/** Maximum number of packages in the legend. */
const PACKAGES_MAX = 10;

interface Entry {
  readonly name: string;
  readonly fill: number;
  /** Share of the self values. */
  readonly share: number;
}

/** The shares of packages or kinds in the self values, the largest first. */
export function entriesOf(graph: Graph, rows: Rows, colour: "package" | "kind"): Entry[] {
  const { name, file } = graph.tree.functions;
  const sums = new Map<string, number>();
  const all = graph.total[0]!;

  for (const id of rows.ids) {
    const key = colour === "kind" ? kindOf(name[id]!, file[id]!) : packageOf(name[id]!, file[id]!);
    sums.set(key, (sums.get(key) ?? 0) + rows.self[id]!);
  }
  return [...sums].filter(([, self]) => self > 0).sort((a, b) => b[1] - a[1]).map(([key, self]) => {
    const kind = KINDS.find((each) => each === key);
    return colour === "kind" && kind
      ? { name: KIND_NAMES[kind], fill: kindFill(kind), share: self / all }
      : { name: key || "unknown", fill: packageFill(key), share: self / all };
  });
}

function swatch(fill: string): HTMLElement {
  const element = h("span", { class: "flame-swatch", "aria-hidden": "true" });

  element.style.background = fill;
  return element;
}

export class Legend {
  readonly element = h("ul", { class: "flame-legend", "aria-label": "Colours" });
  private update: () => void = () => undefined;
  private timer = 0;
  private shownFor: readonly [Graph, Colour, boolean] | null = null;

  /** Completes a pending update immediately. */
  flush(): void {
    clearTimeout(this.timer);
    this.update();
  }

  /** Schedules an update, which runs after the graph is drawn. */
  set(graph: Graph, rows: Rows, colour: Colour): void {
    const isDark = themeOf(document.body).isDark;

    if (this.shownFor?.[0] === graph && this.shownFor[1] === colour && this.shownFor[2] === isDark)
      return;
    this.shownFor = [graph, colour, isDark];
    clearTimeout(this.timer);
    this.update = () => {
      this.element.replaceChildren(...(colour === "package" || colour === "kind"
        ? this.packages(graph, rows, colour)
        : this.changes()));
    };
    this.timer = window.setTimeout(this.update);
  }

  dispose(): void {
    clearTimeout(this.timer);
  }

  private packages(graph: Graph, rows: Rows, colour: "package" | "kind"): HTMLElement[] {
    const fills = fillsOf(themeOf(document.body), colour);
    const entries = entriesOf(graph, rows, colour);
    const more = entries.length - PACKAGES_MAX;

    return [
      ...entries.slice(0, PACKAGES_MAX).map((entry) =>
        h("li", {}, swatch(fills[entry.fill]!), `${safeText(entry.name, 40)} ${percent(entry.share)}`)),
      ...(more > 0 ? [h("li", {}, `${more} more`)] : []),
    ];
  }

  private changes(): HTMLElement[] {
    const fills = fillsOf(themeOf(document.body), "change");
    const at = (share: number, text: string): HTMLElement => h("li", {}, swatch(fills[Math.round(share * (fills.length - 1))]!), text);

    return [at(0, "half or less"), at(0.25, ""), at(0.5, "no change, or within sampling noise"), at(0.75, ""), at(1, "twice or more")];
  }
}
