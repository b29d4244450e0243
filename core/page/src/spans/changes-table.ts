/** The table of a comparison's functions, with the largest changes first. */
import type { Tree } from "../model/tree.ts";
import { h, safeText } from "../parts/dom.ts";
import type { Comparison } from "../model/comparison.ts";
import { differenceText, growthText, NOISE_HINT, noiseText, sideText } from "../parts/change.ts";
import { fewOf, samplesPair } from "../parts/format.ts";
import { changesOf, type Change } from "./change.ts";
import type { Measure } from "./links.ts";
import { table, type Column } from "./table.ts";

/** Maximum length of a name in the address, whose length is limited. */
const FIND_MAX = 1000;
/** The sample counts of both sides, with a mark if there are too few. */
function samplesCell(base: number | null, now: number | null): HTMLElement {
  return h("span", { class: "samples" }, samplesPair(base, now),
    fewOf(base, now) && h("span", { class: "tag few", title: "Fewer than 10 samples on both sides: unreliable" }, "few"));
}

function columnsOf(comparison: Comparison, { unit }: Measure, find: (name: string) => void, isCounted: boolean): Column<Change>[] {
  const isNoise = ({ samples, ...row }: Change, of: "self" | "total"): boolean =>
    of === "self" ? comparison.isNoise(row.self, row.baseSelf, samples.self, samples.baseSelf)
      : comparison.isNoise(row.total, row.baseTotal, samples.total, samples.baseTotal);
  const value = (id: string, title: string, side: "base" | "now", of: (row: Change) => number): Column<Change> =>
    ({ id, title, numeric: true, key: of, cell: (row) => sideText(comparison, side, of(row), unit) });
  const changed = (row: Change, of: "self" | "total", text: (value: number, base: number) => string): HTMLElement => {
    const [now, base] = of === "self" ? [row.self, row.baseSelf] : [row.total, row.baseTotal];
    return isNoise(row, of) ? h("span", { class: "few", title: NOISE_HINT }, noiseText(comparison, now, base))
      : h("span", { class: now > base * comparison.factor ? "more-than" : "less-than" }, text(now, base));
  };
  const difference = (of: "self" | "total", title: string): Column<Change> => ({
    id: `${of}Change`, title, hint: "Sorts by the absolute change; noise comes last", numeric: true,
    key: (row) => isNoise(row, of) ? 0 : Math.abs(of === "self" ? row.self - row.baseSelf * comparison.factor : row.total - row.baseTotal * comparison.factor),
    cell: (row) => changed(row, of, (now, base) => differenceText(comparison, now, base, unit)),
  });

  const samples = (id: string, title: string, of: (row: Change) => readonly [number | null, number | null]): Column<Change>[] => isCounted ? [{
    id, title, hint: "Number of samples on the baseline and on the comparison side", numeric: true,
    key: (row) => of(row).reduce<number>((sum, each) => sum + (each ?? 0), 0), cell: (row) => samplesCell(...of(row)),
  }] : [];

  return [
    { id: "function", title: "Function", key: (row) => row.name, cell: (row) => h("button", {
      type: "button", class: "link", title: safeText(`${row.name}\n${row.file}`, 1000), onclick: () => { find(row.name.slice(0, FIND_MAX)); },
      "aria-label": `Find ${safeText(row.name, 200)} in the flame graph`,
    }, safeText(row.name, 200) || "(no name)") },
    value("baseSelf", "Self, baseline", "base", (row) => row.baseSelf), value("self", "Self", "now", (row) => row.self),
    difference("self", "Self, change"),
    ...samples("selfSamples", "Self, samples", ({ samples: each }) => [each.baseSelf, each.self]),
    value("baseTotal", "Total, baseline", "base", (row) => row.baseTotal), value("total", "Total", "now", (row) => row.total),
    difference("total", "Total, change"),
    ...samples("totalSamples", "Total, samples", ({ samples: each }) => [each.baseTotal, each.total]),
    { id: "growth", title: "Self, change %", numeric: true, cell: (row) => changed(row, "self", (now, base) => growthText(comparison, now, base)) },
  ];
}

export function changesTable(tree: Tree, measure: Measure, find: (name: string) => void): HTMLElement {
  return table({ label: "Largest changes", rows: changesOf(tree), columns: columnsOf(tree.comparison!, measure, find, tree.samples !== null || tree.baseSamples !== null), order: "selfChange" }).element;
}
