/** The query field: completes names and values, runs the query unchanged, and shows
 * the position of an error that the server reports. It is an ARIA 1.2 combobox with
 * a list: https://www.w3.org/WAI/ARIA/apg/patterns/combobox/ */
import { Problem, isAborted, type Api } from "../parts/api.ts";
import { h, safeText } from "../parts/dom.ts";
import { Completion, isFirstWanted, type Option } from "./complete.ts";
import { pairEdit } from "./pairs.ts";
import { parseQuery } from "./parse.ts";

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
  /** Whether the last change of the text or the caret was typed. */
  private isTyping = false;
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
      this.isStale = this.isTyping = true;
      this.scheduleCompletion();
    });
    field.addEventListener("click", () => {
      this.isTyping = false;
      this.scheduleCompletion();
    });
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
    } else if ((event.key === "Enter" || event.key === "Tab" && !event.shiftKey) && open && this.active >= 0) {
      event.preventDefault();
      void this.accept();
    } else if (event.key === "Enter") {
      event.preventDefault();
      void this.acceptOrRun();
    } else if (!event.ctrlKey && !event.metaKey && !event.altKey) {
      this.pairKey(event);
    }
  }

  /** Closes brackets and quotes. */
  private pairKey(event: KeyboardEvent): void {
    const { selectionStart: caret, selectionEnd, value } = this.field;
    const edit = caret === null || caret !== selectionEnd ? null : pairEdit(value, caret, event.key);

    if (!edit)
      return;
    event.preventDefault();
    this.field.setRangeText(edit.insert, edit.start, edit.end);
    this.field.setSelectionRange(edit.caret, edit.caret);
    this.field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }

  /** Runs the query. If completions of typed text have not arrived yet, waits for them,
   * since the text may be a part of a name. */
  private async acceptOrRun(): Promise<void> {
    const isPart = this.isStale && parseQuery(this.field.value, this.field.selectionStart ?? 0).place.kind !== "none";

    if (isPart) {
      clearTimeout(this.timer);
      if (!await this.complete())
        return;
    }
    if (isPart && this.active >= 0)
      this.insert(this.active);
    else
      this.run();
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

  /** Requests and shows completions. Returns false if newer text replaced the request. */
  private async complete(): Promise<boolean> {
    this.pending.abort();
    const current = this.pending = new AbortController();

    try {
      const options = await this.completion.options(this.field.value, this.field.selectionStart ?? 0);
      if (!current.signal.aborted && document.activeElement === this.field)
        this.open(options);
      return !current.signal.aborted;
    } catch (error) {
      if (isAborted(error) || current.signal.aborted)
        return false;
      this.close();
      if (!(error instanceof Problem))
        throw error;
      this.note.textContent = `No completions: ${safeText(error.message, 200)}`;
      return true;
    }
  }

  /** Shows options. The active option stays active if the new list has it. Otherwise the
   * first option becomes active if Enter should accept it. */
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
    const isWanted = this.isTyping && isFirstWanted(options, this.field.value, this.field.selectionStart ?? 0);
    this.activate(Math.max(options.findIndex((option) => option.text === chosen), isWanted && options.length > 0 ? 0 : -1));
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
    const caret = option.start + option.insert.length - option.back;
    this.field.setRangeText(option.insert, option.start, option.end);
    this.field.setSelectionRange(caret, caret);
    this.close();
    this.isTyping = true;
    this.scheduleCompletion();
  }
}

export function queryBox(options: QueryBoxOptions): QueryBox {
  return new Box(options);
}
