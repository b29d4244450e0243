/** A table with a row for each span name. A filter box and two ticks are above it. */
import { h, safeText } from "../parts/dom.ts";
import { filterBox } from "../parts/filter.ts";
import { includeLinks } from "../query/include.ts";
import { Pair } from "../query/pair.ts";
import { withMatcher, withoutValue } from "../query/parse.ts";
import type { View } from "../views/view.ts";
import { nameText } from "./cells.ts";
import { spanNameQuery, withoutSpanName } from "./links.ts";
import { table, type Column } from "./table.ts";

/** The members that all rows by name have. */
interface Named {
  name: string | null;
  service: string | null;
}

export interface NameListOptions<Row> {
  label: string;
  /** The columns after name and service. */
  columns: readonly Column<Row>[];
  /** The default sort column. */
  order: string;
  rowClass?: (row: Row) => string | undefined;
  onChoose: (name: string | null) => void;
}

export interface NameList<Row> {
  readonly element: HTMLElement;
  set(rows: readonly Row[]): void;
  /** Marks the row of a name. */
  select(name: string | null): void;
}

function namedColumns(view: View, pair: Pair, choose: (row: Named) => void): Column<Named>[] {
  const query = view.state.parameters["query"] ?? "";

  return [
    { id: "name", title: "Name", key: (row) => row.name ?? "", cell: (row) => h("span", { class: "span-name" },
      pair.checkbox(row.name),
      h("button", {
        type: "button", class: "link", title: safeText(row.name ?? "", 1000) || undefined, onclick: () => { choose(row); },
        "aria-label": `Flame graph of ${nameText(row.name)}`,
      }, nameText(row.name)),
      includeLinks(view, {
        label: "span name", text: nameText(row.name), only: spanNameQuery(query, row.name), without: withoutSpanName(query, row.name), diff: pair.diffLink(row.name),
      })) },
    { id: "service", title: "Service", key: (row) => row.service ?? "", cell: (row) => row.service === null ? "several" : h("span", { class: "span-service" },
      safeText(row.service, 80), includeLinks(view, {
        label: "service", text: row.service, only: withMatcher(query, "service_name", row.service), without: withoutValue(query, "service_name", row.service),
      })) },
  ];
}

export function nameList<Row extends Named>(view: View, options: NameListOptions<Row>): NameList<Row> {
  const filter = filterBox("names", view.state.parameters["filter"] ?? "", (text) => {
    view.updateAddress({ filter: text });
    list();
  });
  const pair = new Pair({
    view, noun: "name", textOf: nameText, queryOf: (name) => spanNameQuery(view.state.parameters["query"] ?? "", name), onChange: () => { list(); },
  });
  let selected: string | null | undefined;
  let all: readonly Row[] = [];
  const choose = ({ name }: Named): void => {
    selected = name;
    list();
    options.onChoose(name);
  };
  const columns = [...namedColumns(view, pair, choose), ...options.columns];
  const by = view.state.parameters["by"] ?? "";
  const rows = table<Row>({
    label: options.label, rowsStep: 15, rows: all, columns, onRow: choose,
    order: columns.some(({ id }) => id === by.replace(/^-/, "")) ? by : options.order,
    onOrder: (order) => { view.updateAddress({ by: order }); },
    rowClass: (row) => [row.name === selected && "selected", options.rowClass?.(row)].filter(Boolean).join(" ") || undefined,
  });

  function list(): void {
    rows.setRows(filter.apply(all, (row) => nameText(row.name)));
  }

  return {
    element: h("section", { "aria-label": options.label }, h("div", { class: "tools-row" }, filter.element, pair.element), rows.element),
    set(now) {
      all = now;
      list();
    },
    select(name) {
      selected = name;
      list();
    },
  };
}
