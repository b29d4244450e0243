/** The functions of a comparison, from what changed most on. */
import type { Tree } from "../model/tree.ts";
import { h, shown } from "../parts/dom.ts";
import { amount, fewOf, percent, samplesPair } from "../parts/format.ts";
import { changesOf, type Change } from "./change.ts";
import type { Measure } from "./links.ts";
import { table, type Column } from "./table.ts";

/** What is found stands in the address, which has an end. */
const FIND_MAX = 1000;
const MINUS = "\u2212";

export function signed(value: number, unit: string): string {
  return value === 0 ? "0" : `${value > 0 ? "+" : MINUS}${amount(Math.abs(value), unit)}`;
}

/** What is new has no percentage. */
export function growth(base: number, now: number): string {
  if (base === 0)
    return now === 0 ? "\u2013" : "new";
  if (now === 0)
    return "gone";
  return `${now >= base ? "+" : MINUS}${percent(Math.abs(now - base) / base)}`;
}

/** Beside a change what it rests on, marked where that is too little. */
function samplesCell(base: number | null, now: number | null): HTMLElement {
  return h("span", { class: "samples" }, samplesPair(base, now),
    fewOf(base, now) && h("span", { class: "tag few", title: "Below ten samples on either side a row is no ranking." }, "few"));
}

function columnsOf({ unit }: Measure, find: (name: string) => void, isCounted: boolean): Column<Change>[] {
  const value = (id: string, title: string, of: (row: Change) => number): Column<Change> =>
    ({ id, title, numeric: true, key: of, cell: (row) => amount(of(row), unit) });
  const difference = (id: string, title: string, hint: string, of: (row: Change) => number): Column<Change> => ({
    id, title, hint, numeric: true, key: (row) => Math.abs(of(row)),
    // Scaled values have fractions: less than half a unit is none.
    cell: (row) => {
      const change = Math.round(of(row));
      return h("span", { class: change > 0 ? "more-than" : change < 0 ? "less-than" : undefined }, signed(change, unit));
    },
  });

  const samples = (id: string, title: string, of: (row: Change) => readonly [number | null, number | null]): Column<Change>[] => isCounted ? [{
    id, title, hint: "Samples that the value before and the one after rest on", numeric: true,
    key: (row) => of(row).reduce<number>((sum, each) => sum + (each ?? 0), 0), cell: (row) => samplesCell(...of(row)),
  }] : [];

  return [
    { id: "function", title: "Function", key: (row) => row.name, cell: (row) => h("button", {
      type: "button", class: "link", title: shown(`${row.name}\n${row.file}`, 1000), onclick: () => { find(row.name.slice(0, FIND_MAX)); },
      "aria-label": `Find ${shown(row.name, 200)} in the flame graph`,
    }, shown(row.name, 200) || "(no name)") },
    value("baseSelf", "Self, base", (row) => row.baseSelf), value("self", "Self", (row) => row.self),
    difference("selfChange", "Self, change", "Sorted by how much, up or down", (row) => row.self - row.baseSelf),
    ...samples("selfSamples", "Self, samples", ({ samples: each }) => [each.baseSelf, each.self]),
    value("baseTotal", "Total, base", (row) => row.baseTotal), value("total", "Total", (row) => row.total),
    difference("totalChange", "Total, change", "Sorted by how much, up or down", (row) => row.total - row.baseTotal),
    ...samples("totalSamples", "Total, samples", ({ samples: each }) => [each.baseTotal, each.total]),
    { id: "growth", title: "Self, %", numeric: true, cell: (row) => growth(row.baseSelf, row.self) },
  ];
}

export function changesTable(tree: Tree, measure: Measure, find: (name: string) => void): HTMLElement {
  return table({ label: "What changed most", rows: changesOf(tree), columns: columnsOf(measure, find, tree.samples !== null || tree.baseSamples !== null), order: "selfChange" }).element;
}
