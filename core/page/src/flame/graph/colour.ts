/** Colours of frames. Each text colour has a contrast of at least 4.5 on each of its
 * fills, in both themes; test/flame_colour.test.ts checks this. */
import type { Graph } from "./graph.ts";
import { groupsOf, HUES } from "./groups.ts";

export const COLOURS = ["package", "name", "kind", "change"] as const;
export type Colour = (typeof COLOURS)[number];

export interface Theme {
  readonly isDark: boolean;
  readonly background: string;
  readonly text: string;
  /** [0] is the colour of unknown packages. A hash of the package or name selects one of
   * the others. */
  readonly packages: readonly string[];
  readonly kinds: readonly string[];
  /** Colours of changes, from half or less, through no change, to twice or more. */
  readonly changes: readonly string[];
  /** Colour of the frames above the zoomed one. */
  readonly above: string;
  readonly aboveText: string;
  /** Colour of the frames that do not match a search. */
  readonly other: string;
  readonly otherText: string;
  /** Colour of runs of frames that are too narrow to be drawn one by one. */
  readonly run: string;
}

const CHANGE_STEPS = 10;

type Rgb = readonly [number, number, number];

/** https://www.w3.org/TR/css-color-4/#hsl-to-rgb */
function rgbOf(hue: number, saturation: number, lightness: number): Rgb {
  const channel = (n: number): number => {
    const k = (n + hue / 30) % 12;
    const a = saturation * Math.min(lightness, 1 - lightness);
    return Math.round(255 * (lightness - a * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };

  return [channel(0), channel(8), channel(4)];
}

function hex(rgb: Rgb): string {
  return `#${rgb.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}

function between(from: Rgb, to: Rgb, share: number): Rgb {
  const mix = (at: 0 | 1 | 2): number => Math.round(from[at] + (to[at] - from[at]) * share);

  return [mix(0), mix(1), mix(2)];
}

/** Returns the colours of changes: blue for less and orange for more, which people with
 * any kind of colour blindness can distinguish. */
function changesOf(less: Rgb, same: Rgb, more: Rgb): string[] {
  return Array.from({ length: 2 * CHANGE_STEPS + 1 }, (_, step) => {
    const share = step / CHANGE_STEPS - 1;
    return hex(between(same, share < 0 ? less : more, Math.abs(share)));
  });
}

function huesOf(saturation: number, lightness: readonly [number, number]): string[] {
  return Array.from({ length: HUES * 2 }, (_, at) =>
    hex(rgbOf((at * 360) / HUES + (at < HUES ? 0 : 7), saturation, lightness[at < HUES ? 0 : 1])));
}

export const LIGHT: Theme = {
  isDark: false,
  background: "#ffffff",
  text: "#1b1e24",
  packages: ["#d9dde4", ...huesOf(0.66, [0.8, 0.71])],
  kinds: ["#ffcf8a", "#a9d3ff", "#b9c6f2", "#f5a8a0", "#d6b8ec", "#d9dde4"],
  changes: changesOf([92, 158, 240], [228, 231, 236], [245, 146, 74]),
  above: "#e3e7ec",
  aboveText: "#3c4250",
  other: "#eceef1",
  otherText: "#596071",
  run: "#c9ced7",
};

export const DARK: Theme = {
  isDark: true,
  background: "#16181d",
  text: "#f2f4f7",
  packages: ["#434956", ...huesOf(0.42, [0.31, 0.25])],
  kinds: ["#7a4b12", "#1e4f7d", "#3d4a80", "#8a2f2a", "#5e3d7a", "#434956"],
  changes: changesOf([38, 98, 178], [60, 65, 76], [172, 76, 16]),
  above: "#2c313b",
  aboveText: "#c4cad6",
  other: "#22262e",
  otherText: "#a2a9b8",
  run: "#4c5361",
};

/** Derives an element's theme from its text colour. */
export function themeOf(element: Element): Theme {
  const channels = /(\d+(?:\.\d+)?)[, ]+(\d+(?:\.\d+)?)[, ]+(\d+(?:\.\d+)?)/.exec(getComputedStyle(element).color);

  return channels && Number(channels[1]) + Number(channels[2]) + Number(channels[3]) > 384 ? DARK : LIGHT;
}

export interface Colouring {
  readonly colour: Colour;
  /** The index of a frame's colour in fillsOf(). */
  fillOf(index: number): number;
}

export function fillsOf(theme: Theme, colour: Colour): readonly string[] {
  switch (colour) {
    case "package":
    case "name": return theme.packages;
    case "kind": return theme.kinds;
    default: return theme.changes;
  }
}

/** Parses the colour scheme of an address; unknown ones become the default. */
export function colourOf(scheme: string | undefined, isDiff: boolean): Colour {
  const known = COLOURS.find((name) => name === scheme);

  if (isDiff)
    return known ?? "change";
  return known === undefined || known === "change" ? "package" : known;
}

/** `rootId` is the function that the root stands for; -1 if the root stands for all. */
export function colouringOf(graph: Graph, scheme: string | undefined, rootId = -1): Colouring {
  const { baseSamples, baseTotal, samples, total } = graph;
  const { comparison } = graph.tree;
  const colour = colourOf(scheme, comparison !== null);

  if (comparison && colour === "change")
    return {
      colour,
      fillOf: (index) => CHANGE_STEPS + Math.round(CHANGE_STEPS
        * comparison.change(total[index]!, baseTotal![index]!, samples && samples[index]!, baseSamples && baseSamples[index]!)),
    };
  const groups = groupsOf(graph.tree.functions, colour === "change" ? "package" : colour);
  return {
    colour,
    fillOf: (index) => {
      const id = index === 0 ? rootId : graph.functionOf[index]!;
      return id < 0 ? 0 : groups.fills[groups.of(id)]!;
    },
  };
}

/** Calls `change` when the theme of the page or of the system changes. */
export function watchTheme(change: () => void, signal: AbortSignal): void {
  const observer = new MutationObserver(change);

  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme", "class", "style"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", change, { signal });
  signal.addEventListener("abort", () => { observer.disconnect(); });
}
