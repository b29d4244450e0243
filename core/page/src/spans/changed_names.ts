/** The table of span names in two ranges, with the largest changes first. */
import { h } from "../parts/dom.ts";
import { NOISE_HINT, signed } from "../parts/change.ts";
import { amount, percent, samplesPair } from "../parts/format.ts";
import type { View } from "../views/view.ts";
import type { Measure } from "./links.ts";
import { differenceOf, perSpanChange, totalChange, type ChangedName, type NameChange } from "./name_change.ts";
import { nameList, type NameList } from "./name_list.ts";
import type { Column } from "./table.ts";

/** The sort key of a change: noise comes after all other changes. */
export function changeKey(change: NameChange): number {
  return change.isNoise ? 0 : Math.abs(differenceOf(change));
}

function valuesText({ base, now }: NameChange, unit: string): string {
  const text = (value: number | null): string => value === null ? "\u2013" : amount(value, unit);

  return `${text(base)} \u2192 ${text(now)}`;
}

function growthText({ base, now }: NameChange): string {
  return !base ? "new" : !now ? "gone" : signed((now - base) / base, percent);
}

function changeCell(change: NameChange, unit: string): HTMLElement {
  const { margin, isNoise } = change;
  const difference = differenceOf(change);
  const margined = margin > 0 ? ` \u00b1 ${amount(margin, unit)}` : "";
  const text = `${signed(difference, (size) => amount(size, unit))}${margined}`;

  return isNoise ? h("span", { class: "faint", title: NOISE_HINT }, text, " ", h("span", { class: "tag" }, "noise"))
    : h("span", { class: difference > 0 ? "more-than" : "less-than", title: "The difference with its 95 % confidence interval, and its share of the baseline" }, `${text} (${growthText(change)})`);
}

function columnsOf({ unit, name }: Measure): Column<ChangedName>[] {
  const change = (id: string, title: string, of: (row: ChangedName) => NameChange): Column<ChangedName> => ({
    id, title, hint: "Sorts by the absolute change; noise comes last", numeric: true, key: (row) => changeKey(of(row)), cell: (row) => changeCell(of(row), unit),
  });

  return [
    { id: "average", title: `${name} per span`, hint: "Averages over spans with samples", numeric: true,
      key: (row) => perSpanChange(row).now, cell: (row) => valuesText(perSpanChange(row), unit) },
    change("perSpanChange", "Change per span", perSpanChange),
    { id: "total", title: name, numeric: true, key: (row) => row.now?.total ?? 0, cell: (row) => valuesText(totalChange(row), unit) },
    change("totalChange", "Change", totalChange),
    { id: "spans", title: "Spans", hint: "Number of distinct spans with samples", numeric: true, key: ({ now }) => now?.spans ?? 0,
      cell: ({ base, now }) => samplesPair(base?.spans ?? 0, now?.spans ?? 0) },
  ];
}

export function changedNamesTable(view: View, measure: Measure, onChoose: (name: string | null) => void): NameList<ChangedName> {
  return nameList<ChangedName>(view, { label: "Changed span names", order: "perSpanChange", columns: columnsOf(measure), onChoose });
}
