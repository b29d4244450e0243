/** The widths of the table's columns. Columns of numbers are as wide as their content, and
 * the others share the rest. A column that the user resized keeps its width in all tables. */
import { h } from "../../parts/dom.ts";
import { isText, type Column } from "./rows.ts";

const KEY = "spanprof-columns";
const WIDTH_MIN_PX = 40;
const WIDTH_MAX_PX = 4000;
const STEP_PX = 16;
/** The length of "100.0 %". */
const SHARE_LENGTH = 7;
/** Minimum widths and shares of the columns of text. */
const TEXT_WIDTHS = { name: { minPx: 144, share: 3 }, file: { minPx: 64, share: 2 } } as const;

type Chosen = Partial<Record<Column, number>>;

function stored(): Chosen {
  try {
    const read = JSON.parse(localStorage.getItem(KEY) ?? "{}") as unknown;
    return Object.fromEntries(Object.entries(read ?? {}).filter(([, px]) => typeof px === "number" && px >= WIDTH_MIN_PX && px <= WIDTH_MAX_PX));
  } catch {
    return {};
  }
}

/** The length of a cell's text. All shares count as equally long, because they are equally wide. */
function lengthOfCell(cell: Element): number {
  const share = cell.querySelector(".flame-share");

  return cell.textContent.length + (share ? SHARE_LENGTH - share.textContent.length : 0);
}

export class Widths {
  private chosen = stored();
  private readonly content = new Map<Column, number>();
  /** The lengths of the longest measured texts. */
  private readonly lengths = new Map<Column, number>();
  private columns: readonly Column[] = [];

  constructor(private readonly element: HTMLElement) {}

  setColumns(columns: readonly Column[]): void {
    this.columns = columns;
    this.apply();
  }

  /** Forgets the widths of earlier content. */
  clear(): void {
    this.content.clear();
    this.lengths.clear();
  }

  /** Widens the columns of numbers to the content of `rows`. A measurement forces a layout, so
   * this function measures only if a text is longer than all texts before, and then only the rows
   * with the longest texts, which it puts into `place` for this purpose. */
  fit(head: HTMLElement, rows: readonly HTMLElement[], place: HTMLElement): void {
    const lengthOf = (row: HTMLElement, at: number): number => isText(this.columns[at]!) ? 0 : lengthOfCell(row.children[at]!);
    const lengths = this.columns.map((_, at) => Math.max(...[head, ...rows].map((row) => lengthOf(row, at))));
    if (this.columns.every((column, at) => lengths[at]! <= (this.lengths.get(column) ?? 0)) || this.element.clientWidth === 0)
      return;
    this.columns.forEach((column, at) => this.lengths.set(column, Math.max(lengths[at]!, this.lengths.get(column) ?? 0)));
    const longest = rows.filter((row) => lengths.some((length, at) => length > 0 && lengthOf(row, at) === length));

    this.element.style.setProperty("--columns", `repeat(${this.columns.length}, max-content)`);
    place.replaceChildren(...longest);
    for (const row of [head, ...longest])
      this.columns.forEach((column, at) => {
        const px = isText(column) ? 0 : Math.ceil((row.children[at] as HTMLElement).getBoundingClientRect().width);
        this.content.set(column, Math.max(px, this.content.get(column) ?? 0));
      });
    this.apply();
    requestAnimationFrame(() => { this.showValues(); });
  }

  /** The handle at the end of a column's heading, which resizes the column. */
  handle(column: Column, title: string): HTMLElement {
    const handle = h("span", {
      role: "separator", class: "flame-resize", tabindex: 0, "aria-orientation": "vertical", "aria-label": `Width of ${title}`, "data-width": column,
      title: "Drag to resize, double-click to fit the content", "aria-valuemin": WIDTH_MIN_PX, "aria-valuemax": WIDTH_MAX_PX,
      "aria-valuenow": this.chosen[column] ?? this.content.get(column) ?? WIDTH_MIN_PX,
      ondblclick: () => { this.choose(column, null); },
      onkeydown: (event: KeyboardEvent) => {
        const step = { ArrowLeft: -STEP_PX, ArrowRight: STEP_PX }[event.key];
        if (step === undefined && event.key !== "Home" && event.key !== "Enter")
          return;
        event.preventDefault();
        this.choose(column, step === undefined ? null : this.widthOf(column) + step);
      },
      onpointerdown: (event: PointerEvent) => {
        const start = this.widthOf(column) - event.clientX;
        const move = (moved: PointerEvent): void => { this.choose(column, start + moved.clientX); };
        event.preventDefault();
        handle.setPointerCapture(event.pointerId);
        handle.addEventListener("pointermove", move);
        handle.addEventListener("lostpointercapture", () => { handle.removeEventListener("pointermove", move); }, { once: true });
      },
    });

    return handle;
  }

  private widthOf(column: Column): number {
    return this.element.querySelector(`[data-width="${column}"]`)!.parentElement!.getBoundingClientRect().width;
  }

  /** Sets the width of a column; null returns to the width of its content. */
  private choose(column: Column, px: number | null): void {
    if (px === null)
      this.chosen = Object.fromEntries(Object.entries(this.chosen).filter(([name]) => name !== column));
    else
      this.chosen = { ...this.chosen, [column]: Math.round(Math.max(WIDTH_MIN_PX, Math.min(WIDTH_MAX_PX, px))) };
    this.apply();
    this.showValues();
    try {
      localStorage.setItem(KEY, JSON.stringify(this.chosen));
    } catch {
      // Without access to the storage, the widths are lost when the page is reloaded.
    }
  }

  private apply(): void {
    let minPx = 0;
    const tracks = this.columns.map((column) => {
      const px = this.chosen[column] ?? (isText(column) ? null : this.content.get(column) ?? WIDTH_MIN_PX);
      minPx += px ?? TEXT_WIDTHS[column as keyof typeof TEXT_WIDTHS].minPx;
      if (px !== null)
        return `${px}px`;
      const { minPx: least, share } = TEXT_WIDTHS[column as keyof typeof TEXT_WIDTHS];
      return `minmax(${least}px, ${share}fr)`;
    });

    this.element.style.setProperty("--columns", tracks.join(" "));
    this.element.style.setProperty("--row-min", `${minPx}px`);
  }

  /** Tells screen readers the widths. */
  private showValues(): void {
    for (const column of this.columns)
      this.element.querySelector(`[data-width="${column}"]`)?.setAttribute("aria-valuenow", String(Math.round(this.widthOf(column))));
  }
}
