/** The query field: completes names and values, runs the query unchanged, and shows
 * the position of an error that the server reports. It is an ARIA 1.2 combobox with
 * a list: https://www.w3.org/WAI/ARIA/apg/patterns/combobox/ */
import { Problem, isAborted, type Api } from "../parts/api.ts";
import { h, safeText } from "../parts/dom.ts";
import { Completion, type Option } from "./complete.ts";

export interface QueryBoxOptions {
  label: string;
  api: Api;
  /** Returns the parameters `type`, `from` and `until` for requests of completions. */
  parameters: () => Readonly<Record<string, string>>;
  onRun: (query: string) => void;
}

export interface QueryBox {
  readonly element: HTMLElement;
  /** Shows a query. Text that the user is typing stays until the user runs it or
   * leaves the field. Escape restores the query. */
  set(query: string): void;
  /** Sets the position of the error in the query that ran, in bytes from 1; null if it has none. */
  setErrorColumn(column: number | null): void;
}

const COMPLETE_AFTER_MS = 60;
const TEXT_MAX = 120;
/** Number of characters shown before and after the error. */
const AROUND = 40;

/** Converts a column in bytes of UTF-8, from 1, to an index in UTF-16 units. */
export function indexOfColumn(text: string, column: number): number {
  const encoder = new TextEncoder();
  let bytes = 1, index = 0;

  for (const each of text) {
    bytes += encoder.encode(each).length;
    if (bytes > column)
      break;
    index += each.length;
  }
  return index;
}

function faultMark(query: string, column: number): Node[] {
  const at = indexOfColumn(query, column);
  const code = query.codePointAt(at);
  const character = code === undefined ? "" : String.fromCodePoint(code);
  const begin = Math.max(0, at - AROUND);

  return [
    h("span", { class: "sr" }, `Error at character ${Array.from(query.slice(0, at)).length + 1}: `),
    document.createTextNode((begin > 0 ? "\u2026" : "") + safeText(query.slice(begin, at))),
    h("mark", {}, character === "" ? "\u00a0" : safeText(character)),
    document.createTextNode(safeText(query.slice(at + character.length, at + AROUND))),
  ];
}

let last = 0;

class Box implements QueryBox {
  readonly element: HTMLElement;
  private readonly id = `query-${++last}`;
  private readonly field: HTMLInputElement;
  private readonly list: HTMLUListElement;
  private readonly fault: HTMLElement;
  private readonly note: HTMLElement;
  private readonly completion: Completion;
  private options: readonly Option[] = [];
  private active = -1;
  /** Whether the text has changed since the options were requested. */
  private isStale = false;
  private ranQuery = "";
  private timer: ReturnType<typeof setTimeout> | undefined;
  private pending = new AbortController();

  constructor(private readonly source: QueryBoxOptions) {
    const { id } = this;

    this.completion = new Completion({ api: source.api.background(), parameters: source.parameters });
    this.field = h("input", {
      class: "query", role: "combobox", "aria-label": source.label, "aria-autocomplete": "list", "aria-expanded": "false",
      "aria-controls": `${id}-list`, autocomplete: "off", autocapitalize: "off", spellcheck: "false",
      placeholder: 'shop.cpu{host="web-1"}',
    });
    this.list = h("ul", { id: `${id}-list`, role: "listbox", class: "options", "aria-label": `Completions: ${source.label}`, hidden: true });
    this.fault = h("p", { id: `${id}-fault`, class: "query-fault" });
    this.note = h("p", { class: "query-note faint", role: "status" });
    this.element = h("div", { class: "query-box" }, this.field, this.list, this.fault, this.note);
    this.listen();
  }

  set(query: string): void {
    const hasFocus = document.activeElement === this.field;
    const isTyped = hasFocus && this.field.value !== this.ranQuery;

    if (this.ranQuery === query && hasFocus)
      return;
    this.ranQuery = query;
    this.completion.forget();
    if (isTyped)
      return;
    this.field.value = query;
    this.close();
  }

  setErrorColumn(column: number | null): void {
    if (column === null) {
      this.fault.replaceChildren();
      this.field.removeAttribute("aria-invalid");
      this.field.removeAttribute("aria-describedby");
      return;
    }
    this.fault.replaceChildren(...faultMark(this.ranQuery, column));
    this.field.setAttribute("aria-invalid", "true");
    this.field.setAttribute("aria-describedby", this.fault.id);
    if (document.activeElement === this.field && this.field.value === this.ranQuery) {
      const at = indexOfColumn(this.ranQuery, column);
      this.field.setSelectionRange(at, at + 1);
    }
  }

  private listen(): void {
    const { field, list } = this;

    field.addEventListener("input", () => {
      this.pending.abort();
      this.isStale = true;
      this.scheduleCompletion();
    });
    field.addEventListener("click", () => { this.scheduleCompletion(); });
    field.addEventListener("blur", () => { this.close(); });
    field.addEventListener("keydown", (event) => { this.key(event); });
    // A click on the list must not move the focus away from the field.
    list.addEventListener("mousedown", (event) => { event.preventDefault(); });
    list.addEventListener("click", (event) => {
      const item = event.target instanceof Element ? event.target.closest("li") : null;
      if (item)
        this.insert(Number(item.dataset["index"]));
    });
  }

  private key(event: KeyboardEvent): void {
    const open = !this.list.hidden;

    // An input method handles the keys of a composition, for example Enter to accept a
    // word.
    if (event.isComposing)
      return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (open)
        this.activate(this.active + (event.key === "ArrowDown" ? 1 : -1));
      else
        this.scheduleCompletion();
    } else if (event.key === "Escape" && (open || this.isStale)) {
      event.stopPropagation();
      this.close();
    } else if (event.key === "Escape" && this.field.value !== this.ranQuery) {
      event.stopPropagation();
      this.field.value = this.ranQuery;
    } else if ((event.key === "Enter" || event.key === "Tab") && open && this.active >= 0) {
      event.preventDefault();
      void this.accept();
    } else if (event.key === "Enter") {
      event.preventDefault();
      this.run();
    }
  }

  private run(): void {
    this.close();
    this.ranQuery = this.field.value;
    this.setErrorColumn(null);
    this.source.onRun(this.field.value);
  }

  private scheduleCompletion(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { void this.complete(); }, COMPLETE_AFTER_MS);
  }

  private async complete(): Promise<void> {
    this.pending.abort();
    const current = this.pending = new AbortController();

    try {
      const options = await this.completion.options(this.field.value, this.field.selectionStart ?? 0);
      if (!current.signal.aborted && document.activeElement === this.field)
        this.open(options);
    } catch (error) {
      if (isAborted(error) || current.signal.aborted)
        return;
      this.close();
      if (!(error instanceof Problem))
        throw error;
      this.note.textContent = `No completions: ${safeText(error.message, 200)}`;
    }
  }

  /** Shows options. The active option stays active if the new list has it. */
  private open(options: readonly Option[]): void {
    const chosen = this.options[this.active]?.text;

    this.isStale = false;
    this.options = options;
    this.active = -1;
    this.list.replaceChildren(...options.map((option, index) => h("li",
      { role: "option", id: `${this.id}-${index}`, "data-index": index, "aria-selected": "false" },
      h("span", { class: "option-text" }, safeText(option.text, TEXT_MAX)), " ", h("span", { class: "faint" }, option.hint))));
    this.list.hidden = options.length === 0;
    this.field.setAttribute("aria-expanded", String(options.length > 0));
    this.field.removeAttribute("aria-activedescendant");
    this.note.textContent = "";
    this.activate(options.findIndex((option) => option.text === chosen));
  }

  private close(): void {
    clearTimeout(this.timer);
    this.pending.abort();
    this.open([]);
  }

  private activate(index: number): void {
    const count = this.options.length;

    this.list.children[this.active]?.setAttribute("aria-selected", "false");
    this.active = index < -1 ? count - 1 : index >= count ? -1 : index;
    const item = this.list.children[this.active];
    if (!item) {
      this.field.removeAttribute("aria-activedescendant");
      return;
    }
    item.setAttribute("aria-selected", "true");
    item.scrollIntoView({ block: "nearest" });
    this.field.setAttribute("aria-activedescendant", item.id);
  }

  /** Accepts the active option. Options contain positions in the text, so requests them again if the text has changed. */
  private async accept(): Promise<void> {
    if (this.isStale) {
      clearTimeout(this.timer);
      await this.complete();
    }
    this.insert(this.active);
  }

  private insert(index: number): void {
    const option = this.options[index];

    if (!option)
      return;
    this.field.setRangeText(option.insert, option.start, option.end, "end");
    this.close();
    this.scheduleCompletion();
  }
}

export function queryBox(options: QueryBoxOptions): QueryBox {
  return new Box(options);
}
