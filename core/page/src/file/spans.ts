/** The table of a file's span names. A click shows the stacks of one name. */
import { Comparison, type Sums } from "../model/comparison.ts";
import type { WireFile, WireFileSide, WireFileSpan } from "../model/wire.ts";
import { differenceText, growthText, noiseText } from "../parts/change.ts";
import { amount, count, relativeError, percent } from "../parts/format.ts";
import { h, safeText } from "../parts/dom.ts";
import { totalOf } from "./head.ts";
import { hasStacksOf, keyOf } from "./side.ts";

export interface SpanTable {
  readonly element: HTMLElement;
  /** Marks the row of the span name whose stacks are shown; undefined means that all
   * stacks are shown. */
  mark(key: string | undefined): void;
}

interface Row {
  readonly key: string;
  readonly name: string | null;
  readonly now: WireFileSpan | undefined;
  readonly base: WireFileSpan | undefined;
}

interface Column {
  readonly name: string;
  readonly value: (row: Row) => number;
  readonly text: (row: Row) => string;
}

/** Number of rows from which the table has a search field. */
const SEARCH_FROM = 12;
const TOP_SPANS_MAX = 100;
/** Maximum number of rows, since browsers need seconds for tens of thousands. The search finds the others. */
const NAMES_MAX = 500;

function rowsOf(file: WireFile): Row[] {
  const rows = new Map<string, Row>();

  for (const now of file.now.spanNames)
    rows.set(keyOf(now.name), { key: keyOf(now.name), name: now.name, now, base: undefined });
  for (const base of file.base?.spanNames ?? [])
    rows.set(keyOf(base.name), { key: keyOf(base.name), name: base.name, now: rows.get(keyOf(base.name))?.now, base });
  return [...rows.values()];
}

function average(span: WireFileSpan | undefined): number {
  return span && span.spans > 0 ? span.total / span.spans : 0;
}

/** The relative error of a count: "± 21 %", or "?" for too few samples. */
function relativeErrorText(samples: number): string {
  const half = relativeError(samples);

  return samples === 0 ? "" : half === null ? "?" : `\u00b1 ${percent(half)}`;
}

function columnsOf(file: WireFile): Column[] {
  const { unit } = file.now.tree;
  const all = Math.max(totalOf(file.now), 1);
  const number = (name: string, of: (span: WireFileSpan) => number): Column => ({
    name, value: (row) => row.now ? of(row.now) : 0, text: (row) => row.now ? amount(of(row.now), unit) : "\u2013",
  });
  const total = number("Total", (span) => span.total);
  const samples: Column = {
    name: "Samples", value: (row) => row.now?.samples ?? 0,
    text: (row) => `${count(row.now?.samples ?? 0)} ${relativeErrorText(row.now?.samples ?? 0)}`,
  };

  if (file.base) {
    const sumsOf = (side: WireFileSide): Sums => ({ total: totalOf(side), samples: side.samples || null });
    const comparison = new Comparison(sumsOf(file.base), sumsOf(file.now), "values");
    const sides = ({ now, base }: Row): [number, number] => [now?.total ?? 0, base?.total ?? 0];
    const isNoise = (row: Row): boolean => comparison.isNoise(...sides(row), row.now?.samples ?? 0, row.base?.samples ?? 0);
    return [
      { name: "Baseline", value: (row) => row.base?.total ?? 0, text: (row) => row.base ? amount(row.base.total, unit) : "\u2013" },
      { ...total, name: "Comparison" },
      {
        name: "Change", value: (row) => isNoise(row) ? 0 : Math.abs((row.now?.total ?? 0) - (row.base?.total ?? 0)),
        text: (row) => isNoise(row) ? noiseText(comparison, ...sides(row)) : `${differenceText(comparison, ...sides(row), unit)} (${growthText(comparison, ...sides(row))})`,
      },
      samples,
    ];
  }
  return [
    total,
    { name: "Share", value: (row) => row.now?.total ?? 0, text: (row) => percent((row.now?.total ?? 0) / all) },
    number("Self", (span) => span.self),
    samples,
    { name: "Spans", value: (row) => row.now?.spans ?? 0, text: (row) => row.now?.spans ? count(row.now.spans) : "\u2013" },
    { name: "Average", value: (row) => average(row.now), text: (row) => row.now?.spans ? amount(average(row.now), unit) : "\u2013" },
  ];
}

function topSpans(file: WireFile): HTMLElement | null {
  const { spans, tree } = file.now;

  if (spans.length === 0)
    return null;
  return h("details", { class: "file-top-spans" },
    h("summary", {}, `Top ${count(Math.min(spans.length, TOP_SPANS_MAX))} spans`),
    h("div", { class: "file-scroll", tabindex: "0", role: "region", "aria-label": "Spans" }, h("table", {},
      h("thead", {}, h("tr", {}, ...["Span", "Id", "Total", "Self", "Samples"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, ...spans.slice(0, TOP_SPANS_MAX).map((span) => h("tr", { class: relativeError(span.samples) === null && "file-few" },
        h("th", { scope: "row" }, safeText(span.name ?? "(no span)", 200)), h("td", { class: "file-id" }, safeText(span.spanId ?? "")),
        h("td", {}, amount(span.total, tree.unit)), h("td", {}, amount(span.self, tree.unit)),
        h("td", {}, `${count(span.samples)} ${relativeErrorText(span.samples)}`)))))));
}

class Names implements SpanTable {
  readonly element: HTMLElement;
  private readonly body = h("tbody", {});
  private readonly heads: HTMLElement[];
  private readonly columns: readonly Column[];
  private readonly rows: readonly Row[];
  private readonly onPick: (key: string) => void;
  private readonly showAll = h("button", { type: "button", hidden: true }, "Show all stacks");
  private sorted: number;
  private filterText = "";
  private chosen: string | undefined;

  constructor(file: WireFile, onPick: (key: string) => void) {
    this.onPick = onPick;
    this.columns = columnsOf(file);
    this.rows = rowsOf(file);
    this.sorted = file.base ? 2 : 0;
    this.showAll.addEventListener("click", () => { onPick(""); });
    this.heads = this.columns.map((column, index) =>
      h("th", { scope: "col" }, h("button", { type: "button", onclick: () => { this.sort(index); } }, column.name)));
    this.element = h("section", { class: "file-spans", hidden: !this.rows.some((row) => row.name !== null) },
      h("div", { class: "file-tools" }, h("h2", {}, "Spans"), this.search(), this.showAll),
      h("div", { class: "file-scroll", tabindex: "0", role: "region", "aria-label": "Span names" },
        h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Span name"), ...this.heads)), this.body)),
      topSpans(file));
    this.draw();
  }

  mark(key: string | undefined): void {
    this.chosen = key;
    this.showAll.hidden = key === undefined;
    this.draw();
  }

  private search(): HTMLElement | null {
    if (this.rows.length < SEARCH_FROM)
      return null;
    const field = h("input", { type: "search", placeholder: "Find a span name", "aria-label": "Find a span name" });

    field.addEventListener("input", () => {
      this.filterText = field.value.toLowerCase();
      this.draw();
    });
    return field;
  }

  private sort(column: number): void {
    this.sorted = column;
    this.draw();
  }

  private draw(): void {
    const { value } = this.columns[this.sorted]!;
    const seen = this.rows.filter((row) => (row.name ?? "(no span)").toLowerCase().includes(this.filterText));
    const most = seen.reduce((all, row) => Math.max(all, value(row)), 1);

    this.heads.forEach((head, index) => {
      if (index === this.sorted)
        head.setAttribute("aria-sort", "descending");
      else
        head.removeAttribute("aria-sort");
    });
    this.body.replaceChildren(...seen.sort((a, b) => value(b) - value(a)).slice(0, NAMES_MAX).map((row) => this.row(row, value(row) / most)));
    if (seen.length === 0 || seen.length > NAMES_MAX)
      this.body.append(h("tr", {}, h("td", { colspan: this.columns.length + 1 },
        seen.length === 0 ? "No matching names" : `${count(seen.length - NAMES_MAX)} more: search by name`)));
  }

  private row(row: Row, share: number): HTMLElement {
    const name = safeText(row.name ?? "(no span)", 200);
    const isChosen = row.key === this.chosen;
    const hasStacks = hasStacksOf(row.now, row.base);
    const bar = h("span", { class: "file-bar", "aria-hidden": "true" });

    bar.style.width = `${Math.max(share, 0) * 100}%`;
    return h("tr", { class: (isChosen ? "file-chosen " : "") + (relativeError(row.now?.samples ?? 0) === null ? "file-few" : "") },
      h("th", { scope: "row" }, bar, hasStacks
        ? h("button", { type: "button", "aria-pressed": String(isChosen), onclick: () => { this.onPick(isChosen ? "" : row.key); } }, name)
        : h("span", {}, name)),
      ...this.columns.map((column) => h("td", {}, column.text(row))));
  }
}

export function spanTable(file: WireFile, onPick: (key: string) => void): SpanTable {
  return new Names(file, onPick);
}
