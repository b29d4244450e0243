/** A table that sorts its rows when a column header is clicked. */
import { h, replaceContent } from "../parts/dom.ts";
import { count } from "../parts/format.ts";

const ROWS_STEP = 50;

export interface Column<Row> {
  id: string;
  title: string;
  hint?: string;
  numeric?: boolean;
  /** The sort key; null sorts last. Without it the column cannot be sorted. */
  key?: (row: Row) => number | string | null;
  cell: (row: Row) => Node | string;
}

export interface TableOptions<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** Initial number of rows. */
  rowsStep?: number;
  /** The id of the sort column. A leading "-" reverses the order. */
  order?: string;
  onOrder?: (order: string) => void;
  rowClass?: (row: Row) => string | undefined;
  /** Called for a click on a row, unless the click selects text or belongs to a control.
   * A cell must have a control with the same effect, for the keyboard. */
  onRow?: (row: Row) => void;
}

export interface Table<Row> {
  readonly element: HTMLElement;
  setRows(rows: readonly Row[]): void;
}

function compared(a: number | string | null, b: number | string | null): number {
  if (a === null || b === null)
    return a === b ? 0 : a === null ? 1 : -1;
  if (typeof a === "number" && typeof b === "number")
    return b - a;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Sorts numbers in descending and texts in ascending order. Null keys stay last, also if reversed. */
function sorted<Row>(rows: readonly Row[], column: Column<Row> | undefined, reverse: boolean): readonly Row[] {
  const key = column?.key;

  if (!key)
    return rows;
  return rows.map((row) => ({ row, value: key(row) }))
    .sort((a, b) => compared(a.value, b.value) * (reverse && a.value !== null && b.value !== null ? -1 : 1))
    .map(({ row }) => row);
}

function isOnRow(event: Event): boolean {
  return event.target instanceof Element && event.target.closest("a, button, input") === null && getSelection()?.isCollapsed !== false;
}

export function table<Row>(options: TableOptions<Row>): Table<Row> {
  return new SortedTable(options);
}

class SortedTable<Row> implements Table<Row> {
  readonly element: HTMLElement;
  private readonly head = h("tr", {});
  private readonly body = h("tbody", {});
  private readonly more = h("button", { type: "button", class: "more", onclick: () => { this.limit = Math.max(this.limit * 2, ROWS_STEP); this.draw(); } });
  private rows: readonly Row[];
  private order: string;
  private limit: number;

  constructor(private readonly options: TableOptions<Row>) {
    this.rows = options.rows;
    this.order = options.order ?? "";
    this.limit = options.rowsStep ?? ROWS_STEP;
    this.element = h("div", { class: "table-of", role: "region", tabindex: "0", "aria-label": options.label },
      h("table", { "aria-label": options.label }, h("thead", {}, this.head), this.body), this.more);
    this.draw();
  }

  setRows(rows: readonly Row[]): void {
    this.rows = rows;
    this.draw();
  }

  private draw(): void {
    const { columns } = this.options;
    const id = this.order.replace(/^-/, "");
    const rows = sorted(this.rows, columns.find((column) => column.id === id), this.order.startsWith("-"));

    replaceContent(this.head, ...columns.map((column) => this.headCell(column)));
    replaceContent(this.body, ...rows.slice(0, this.limit).map((row) => this.row(row)));
    this.more.hidden = rows.length <= this.limit;
    this.more.textContent = `Show more (${count(Math.min(this.limit, rows.length))} of ${count(rows.length)} shown)`;
  }

  private row(row: Row): HTMLElement {
    const { columns, rowClass, onRow } = this.options;

    return h("tr", {
      class: [rowClass?.(row), onRow && "selectable"].filter(Boolean).join(" ") || undefined,
      onclick: onRow && ((event: Event) => {
        if (isOnRow(event))
          onRow(row);
      }),
    }, ...columns.map((column) => h("td", { class: column.numeric ? "number" : undefined }, column.cell(row))));
  }

  private headCell(column: Column<Row>): HTMLElement {
    const forward = this.order === column.id, backward = this.order === `-${column.id}`;
    // Numbers are descending by default.
    const direction = forward === Boolean(column.numeric) ? "descending" : "ascending";
    const title = h("span", {}, column.title);

    return h("th", {
      scope: "col", class: column.numeric ? "number" : undefined, title: column.hint,
      "aria-sort": forward || backward ? direction : undefined,
    }, column.key ? h("button", { type: "button", onclick: () => { this.sort(column.id); } },
      title, h("span", { "aria-hidden": "true", class: "arrow" }, forward || backward ? direction === "ascending" ? "\u25b4" : "\u25be" : "")) : title);
  }

  private sort(id: string): void {
    this.order = this.order === id ? `-${id}` : id;
    this.draw();
    this.options.onOrder?.(this.order);
    this.head.querySelectorAll("button").forEach((button) => {
      if (button.closest("th")?.hasAttribute("aria-sort"))
        button.focus();
    });
  }
}
