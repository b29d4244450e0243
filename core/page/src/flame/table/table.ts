/** The table of functions with self and total values. Only visible rows are elements,
 * so that tables of 100,000 functions scroll fast. */
import { safeText, h } from "../../parts/dom.ts";
import { count } from "../../parts/format.ts";
import type { Functions } from "../../model/tree.ts";
import { cellsOf, columnsOf, titleOfColumn, type CellSource } from "./cells.ts";
import { sameFunction } from "../stacks/refs.ts";
import { shortPlaceOf } from "../stacks/code_place.ts";
import { COLUMNS, isText, sortedIds, type Column, type Rows } from "./rows.ts";
import { Widths } from "./widths.ts";

export const TABLE_ROW_PX = 26;
/** Extra rows above and below the visible ones. */
const SPARE_ROWS = 6;

export interface TableEvents {
  order(order: string): void;
  /** The user selected a row: highlight its function in the graph. */
  select(functionId: number): void;
  menu(functionId: number, x: number, y: number): void;
  key(event: KeyboardEvent, functionId: number): boolean;
}

export interface TableState {
  readonly source: CellSource;
  readonly mask: Uint8Array | null;
  readonly order: string | undefined;
  /** Identifies the set of rows. When it changes, the table scrolls to the top. */
  readonly key: string;
}

let tables = 0;

/** Parses the sort order: "-self" sorts by self values, the smallest first. */
export function readOrder(order: string | undefined, isDiff: boolean): { column: Column; isAscending: boolean } {
  const name = order?.replace(/^-/, "");
  const column = COLUMNS.find((each) => each === name) ?? (isDiff ? "change" : "self");

  // By default texts are ascending and numbers descending.
  return { column, isAscending: isText(column) !== (order?.startsWith("-") ?? false) };
}

/** The texts of a column of text, by function. */
function textsOf(functions: Functions, column: Column): readonly string[] {
  return column === "file" ? functions.name.map((_, id) => shortPlaceOf(functions, id)) : functions.name;
}

function filtered(rows: Rows, mask: Uint8Array | null): Uint32Array {
  return mask ? rows.ids.filter((id) => mask[id] === 1) : rows.ids;
}

export class Table {
  readonly element: HTMLElement;
  private readonly head = h("div", { class: "flame-row flame-head", role: "row", "aria-rowindex": 1 });
  private readonly body = h("div", { class: "flame-rows", role: "rowgroup" });
  private readonly empty = h("p", { class: "flame-empty", hidden: true }, "No matching functions.");
  private readonly id = `flame-table-${++tables}`;
  private readonly events: TableEvents;
  private readonly observer: ResizeObserver;
  private readonly widths: Widths;
  private columns: readonly Column[] = [];
  /** The columns and the order that the headings show. */
  private headed = "";
  private state: TableState | null = null;
  private ids: Uint32Array = new Uint32Array();
  private active = -1;
  private chosen = -1;
  /** Number of rows to print; 0 unless printing. */
  private printed = 0;
  private readonly printedNote = h("p", { class: "flame-rest", hidden: true });

  constructor(events: TableEvents) {
    this.events = events;
    this.element = h("div", { class: "flame-table", role: "grid", tabindex: 0, id: this.id, "aria-label": "Functions" },
      h("div", { role: "rowgroup", class: "flame-heads" }, this.head), this.body, this.empty, this.printedNote);
    this.element.addEventListener("scroll", () => { this.fill(); });
    this.element.addEventListener("keydown", (event) => { this.onKey(event); });
    this.element.addEventListener("contextmenu", (event) => { this.onMenu(event); });
    this.body.addEventListener("click", (event) => {
      const row = this.rowAt(event.target);
      if (row >= 0)
        this.choose(row);
    });
    this.widths = new Widths(this.element);
    this.observer = new ResizeObserver(() => {
      this.showColumns();
      this.fill();
    });
    this.observer.observe(this.element);
  }

  set(state: TableState): void {
    const { rows, functions } = state.source;
    const before = this.state;

    this.state = state;
    // A zoom changes nothing in the table.
    if (before?.source.rows === rows && before.mask === state.mask && before.order === state.order && before.key === state.key)
      return;
    if (before?.source.rows !== rows || before.mask !== state.mask || before.order !== state.order) {
      const activeId = before ? sameFunction(functions, before.source.functions, this.ids[this.active] ?? -1) : -1;
      const { column, isAscending } = readOrder(state.order, rows.baseTotal !== null);
      this.ids = sortedIds(rows, textsOf(functions, column), column, isAscending, filtered(rows, state.mask));
      this.active = activeId < 0 ? -1 : this.ids.indexOf(activeId);
    }
    if (before?.key !== state.key || before.order !== state.order)
      this.element.scrollTop = 0;
    if (before?.source.rows !== rows)
      this.widths.clear();
    this.columns = columnsOf(state.source, this.element.clientWidth);
    this.showHead();
    this.element.setAttribute("aria-rowcount", String(this.ids.length + 1));
    this.body.style.height = `${this.ids.length * TABLE_ROW_PX}px`;
    this.empty.hidden = this.ids.length > 0;
    this.fill();
  }

  /** Marks the highlighted function; -1 for none. */
  mark(functionId: number): void {
    if (functionId === this.chosen)
      return;
    this.chosen = functionId;
    this.fill();
  }

  /** Shows only the first `rowsMax` rows, for printing. 0 returns to the screen. */
  print(rowsMax: number): void {
    this.printed = Math.min(rowsMax, this.ids.length);
    this.printedNote.hidden = this.printed === 0 || this.printed === this.ids.length;
    this.printedNote.textContent = `The first ${count(this.printed)} of ${count(this.ids.length)} functions.`;
    this.fill();
  }

  dispose(): void {
    this.observer.disconnect();
  }

  /** Shows the column of files if there is room for it. */
  private showColumns(): void {
    const columns = this.state && columnsOf(this.state.source, this.element.clientWidth);

    if (columns && columns.length !== this.columns.length) {
      this.columns = columns;
      this.showHead();
    }
  }

  private showHead(): void {
    const { source, order } = this.state!;
    const { columns } = this;
    const sorted = readOrder(order, source.rows.baseTotal !== null);
    const headed = JSON.stringify([columns, sorted]);
    if (headed === this.headed)
      return;
    this.headed = headed;
    const focused = this.head.contains(document.activeElement) ? document.activeElement : null;
    const focusedName = ["data-column", "data-width"].find((name) => focused?.hasAttribute(name));

    this.element.setAttribute("aria-colcount", String(columns.length));
    this.head.replaceChildren(...columns.map((column) => {
      const isSorted = column === sorted.column;
      const next = isSorted && sorted.isAscending === isText(column) ? `-${column}` : column;
      const button = h("button", {
        type: "button", "data-column": column, onclick: () => { this.events.order(next); },
      }, titleOfColumn(column, source.rows), isSorted ? h("span", { "aria-hidden": "true" }, sorted.isAscending ? " \u25b4" : " \u25be") : null);
      return h("div", {
        role: "columnheader", class: `flame-cell ${isText(column) ? "" : "flame-number"}`,
        "aria-sort": isSorted ? (sorted.isAscending ? "ascending" : "descending") : "none",
      }, button, this.widths.handle(column, titleOfColumn(column, source.rows)));
    }));
    this.widths.setColumns(columns);
    if (focused && focusedName)
      this.head.querySelector<HTMLElement>(`[${focusedName}="${focused.getAttribute(focusedName)!}"]`)?.focus();
  }

  private fill(): void {
    // A hidden table has no size. It is filled when it is shown.
    if (!this.state || (this.element.clientHeight === 0 && this.printed === 0))
      return;
    const headPx = this.head.offsetHeight;
    const first = this.printed > 0 ? 0 : Math.max(0, Math.floor(this.element.scrollTop / TABLE_ROW_PX) - SPARE_ROWS);
    const seen = Math.ceil((this.element.clientHeight - headPx) / TABLE_ROW_PX) + 2 * SPARE_ROWS;
    const last = this.printed > 0 ? this.printed : Math.min(this.ids.length, first + seen);
    const rows: HTMLElement[] = [];

    for (let row = first; row < last; row++)
      rows.push(this.rowOf(row));
    this.widths.fit(this.head, rows, this.body);
    this.body.replaceChildren(...rows);
    if (this.active >= first && this.active < last)
      this.element.setAttribute("aria-activedescendant", `${this.id}-${this.active}`);
    else
      this.element.removeAttribute("aria-activedescendant");
  }

  private rowOf(row: number): HTMLElement {
    const id = this.ids[row]!;
    const { source } = this.state!;
    const { functions } = source;
    const isChosen = id === this.chosen;
    const element = h("div", {
      class: `flame-row${row === this.active ? " flame-active" : ""}${isChosen ? " flame-chosen" : ""}`,
      role: "row", id: `${this.id}-${row}`, "aria-rowindex": row + 2, "aria-selected": String(isChosen),
      "data-row": row, title: titleOf(functions, id),
    }, ...cellsOf(source, this.columns, id));

    element.style.transform = `translateY(${row * TABLE_ROW_PX}px)`;
    return element;
  }

  private rowAt(target: EventTarget | null): number {
    const row = target instanceof Element ? target.closest("[data-row]")?.getAttribute("data-row") : null;

    return row === null || row === undefined ? -1 : Number(row);
  }

  private choose(row: number): void {
    this.active = row;
    this.events.select(this.ids[row]!);
  }

  private onMenu(event: MouseEvent): void {
    const pointed = this.rowAt(event.target);
    const row = pointed >= 0 ? pointed : this.active;

    if (row < 0 || this.head.contains(event.target as Node))
      return;
    event.preventDefault();
    this.active = row;
    this.fill();
    if (pointed >= 0 && event.button === 2)
      this.events.menu(this.ids[row]!, event.clientX, event.clientY);
    else
      this.menuAtRow(row);
  }

  private menuAtRow(row: number): void {
    const box = this.body.querySelector(`[data-row="${row}"]`)?.getBoundingClientRect() ?? this.element.getBoundingClientRect();

    this.events.menu(this.ids[row]!, box.left + 40, box.top + TABLE_ROW_PX);
  }

  private onKey(event: KeyboardEvent): void {
    if (event.target !== this.element || event.altKey || event.metaKey)
      return;
    const page = Math.max(1, Math.floor(this.element.clientHeight / TABLE_ROW_PX) - 2);
    const to: Record<string, number> = {
      ArrowDown: this.active + 1, ArrowUp: this.active - 1, PageDown: this.active + page, PageUp: this.active - page,
      Home: 0, End: this.ids.length - 1,
    };
    const functionId = this.ids[this.active] ?? -1;

    if (event.key in to && this.ids.length > 0)
      this.moveTo(Math.min(this.ids.length - 1, Math.max(0, to[event.key]!)));
    else if (functionId >= 0 && event.key === "Enter")
      this.choose(this.active);
    else if (functionId >= 0 && (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)))
      this.menuAtRow(this.active);
    else if (!this.events.key(event, functionId))
      return;
    event.preventDefault();
  }

  private moveTo(row: number): void {
    const top = row * TABLE_ROW_PX;
    const heightPx = this.element.clientHeight - this.head.offsetHeight;

    this.active = row;
    if (top < this.element.scrollTop)
      this.element.scrollTop = top;
    else if (top + TABLE_ROW_PX > this.element.scrollTop + heightPx)
      this.element.scrollTop = top + TABLE_ROW_PX - heightPx;
    this.fill();
  }
}

function titleOf(functions: Functions, id: number): string {
  const file = functions.file[id]!;

  return safeText(functions.name[id]!) + (file ? `\n${safeText(file)}${functions.line[id]! > 0 ? `:${functions.line[id]!}` : ""}` : "");
}
