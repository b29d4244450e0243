/** The legend of a graph's colours. */
import { percent } from "../../parts/format.ts";
import { h, safeText } from "../../parts/dom.ts";
import { fillsOf, themeOf, type Colour } from "./colour.ts";
import { levelCount, levelOf, visibleFrames, type Graph } from "./graph.ts";
import { groupsOf, type Grouping, type Groups } from "./groups.ts";

/** Maximum number of groups in the legend. */
const ENTRIES_MAX = 12;

/** The legend waits until the graph is drawn and the user stops zooming. */
const DELAY_MS = 200;

/** The legend is computed for this share of the graph's width, so frames that are narrower than
 * a pixel do not count, although the graph draws them. */
const RESOLUTION = 0.5;

const HEADS: Readonly<Record<Grouping, string>> = {
  package: "Visible packages and modules, with their self time:",
  name: "Visible functions, with their self time:",
  kind: "Visible kinds of code, with their self time:",
};

export interface Entry {
  readonly name: string;
  readonly fill: number;
  /** Share of the area of the visible frames. */
  readonly area: number;
  /** Share of the self values in the zoomed frame. */
  readonly self: number;
}

/** Returns, for each group, the sum of the self values in the zoomed frame. */
function selvesOf(graph: Graph, zoom: number, groups: Groups): Map<number, number> {
  const { firstChild, functionOf, self } = graph;
  const ofFunctions = new Float64Array(graph.tree.functions.name.length);
  const selves = new Map<number, number>();

  for (let first = zoom, end = zoom + 1; first < end; first = firstChild[first]!, end = firstChild[end]!)
    for (let index = Math.max(1, first); index < end; index++)
      ofFunctions[functionOf[index]!]! += self[index]!;
  ofFunctions.forEach((value, id) => {
    if (value > 0)
      selves.set(groups.of(id), (selves.get(groups.of(id)) ?? 0) + value);
  });
  return selves;
}

/** The groups of the visible frames, the one with the largest area first. Frames above the
 * zoomed one are not coloured. */
export function entriesOf(graph: Graph, zoom: number, widthPx: number, grouping: Grouping): Entry[] {
  const groups = groupsOf(graph.tree.functions, grouping);
  const areas = new Map<number, number>();
  const visible = visibleFrames(graph, zoom, widthPx, levelOf(graph, zoom), levelCount(graph));
  let area = 0;

  visible.node.forEach((index, at) => {
    const id = index < 0 ? -1 : graph.functionOf[index]!;
    if (id < 0)
      return;
    area += visible.width[at]!;
    areas.set(groups.of(id), (areas.get(groups.of(id)) ?? 0) + visible.width[at]!);
  });
  const selves = selvesOf(graph, zoom, groups);
  return [...areas].sort((a, b) => b[1] - a[1]).map(([group, px]) => ({
    name: groups.names[group]!, fill: groups.fills[group]!, area: px / area, self: (selves.get(group) ?? 0) / graph.total[zoom]! || 0,
  }));
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
  private shownFor: readonly unknown[] = [];

  /** Completes a pending update immediately. */
  flush(): void {
    clearTimeout(this.timer);
    this.update();
  }

  /** Schedules an update, which runs after the graph is drawn. */
  set(graph: Graph, zoom: number, widthPx: number, colour: Colour): void {
    const shown = [graph, zoom, widthPx, colour, themeOf(document.body).isDark];

    if (shown.every((part, at) => part === this.shownFor[at]))
      return;
    this.shownFor = shown;
    clearTimeout(this.timer);
    this.update = () => {
      this.element.replaceChildren(...(colour === "change" ? this.changes() : this.groups(entriesOf(graph, zoom, widthPx * RESOLUTION, colour), colour)));
    };
    this.timer = window.setTimeout(this.update, DELAY_MS);
  }

  dispose(): void {
    clearTimeout(this.timer);
  }

  private groups(entries: readonly Entry[], grouping: Grouping): HTMLElement[] {
    const fills = fillsOf(themeOf(document.body), grouping);
    const more = entries.length - ENTRIES_MAX;

    return [
      h("li", {}, HEADS[grouping]),
      ...entries.slice(0, ENTRIES_MAX).map(({ name, fill, area, self }) =>
        h("li", { title: `${safeText(name)}\n${percent(area)} of the coloured area, ${percent(self)} self time` },
          swatch(fills[fill]!), `${safeText(name, 40)} ${percent(self)}`)),
      ...(more > 0 ? [h("li", {}, `${more} more`)] : []),
    ];
  }

  private changes(): HTMLElement[] {
    const fills = fillsOf(themeOf(document.body), "change");
    const at = (share: number, text: string): HTMLElement => h("li", {}, swatch(fills[Math.round(share * (fills.length - 1))]!), text);

    return [at(0, "half or less"), at(0.25, ""), at(0.5, "no change, or within sampling noise"), at(0.75, ""), at(1, "twice or more")];
  }
}
