/** The toolbar of a flame graph: search, display options, undo and reset. */
import { h, safeText } from "../parts/dom.ts";
import type { Scale } from "../model/comparison.ts";
import type { DisplayOptions } from "./display.ts";

export interface ToolbarEvents {
  change(change: DisplayOptions): void;
  /** Goes to the next match (1) or the previous one (-1). */
  step(by: number): void;
  undo(): void;
  reset(): void;
  keys(): void;
}

export interface ToolbarState {
  readonly display: DisplayOptions;
  /** The scale of a comparison; null if there is only one side. */
  readonly scale: Scale | null;
  readonly canUndo: boolean;
  /** Whether the profile has own and other code. */
  readonly hasForeign: boolean;
  /** The result of the search, or its error message. */
  readonly found: string;
  readonly isFault: boolean;
  readonly matches: number;
}

type Choice = readonly [value: string, text: string];

const COLOURS: readonly Choice[] = [["package", "by package"], ["name", "by name"], ["kind", "by kind"]];
const DIFF_COLOURS: readonly Choice[] = [["change", "by change"], ...COLOURS];
const SCALES: readonly Choice[] = [["shares", "shares of total"], ["values", "values"]];
const SORTS: readonly Choice[] = [["value", "largest first"], ["name", "by name"]];
const RECURSIONS: readonly Choice[] = [["", "show"], ["direct", "collapse direct"], ["all", "collapse all"]];
const LAYOUTS: readonly Choice[] = [["icicle", "icicle"], ["flame", "flame"]];
const SHOWNS: readonly Choice[] = [["table", "Table"], ["both", "Both"], ["graph", "Graph"]];

const MINE_HINT = "Hide packages, the standard library and native modules. Their time belongs to the nearest caller in the application.";

/** Delay between typing and search. */
const SEARCH_PAUSE_MS = 120;

function select(label: string, onPick: (value: string) => void): { element: HTMLElement; set: (choices: readonly Choice[], value: string) => void } {
  const box = h("select", { onchange: () => { onPick(box.value); } });
  let current: readonly Choice[] = [];

  return {
    element: h("label", { class: "flame-pick" }, h("span", {}, label), box),
    set: (choices, value) => {
      if (current !== choices)
        box.replaceChildren(...choices.map(([name, text]) => h("option", { value: name }, text)));
      current = choices;
      box.value = choices.some(([name]) => name === value) ? value : choices[0]![0];
    },
  };
}

export class Toolbar {
  readonly element: HTMLElement;
  readonly search: HTMLInputElement;
  private readonly found = h("output", { class: "flame-found" });
  private readonly previous: HTMLButtonElement;
  private readonly next: HTMLButtonElement;
  private readonly undo: HTMLButtonElement;
  private readonly reset: HTMLButtonElement;
  private readonly mine: HTMLButtonElement;
  private readonly selects;
  private readonly shownButtons: HTMLButtonElement[];
  private timer = 0;
  private searched = "";

  constructor(events: ToolbarEvents) {
    const button = (text: string, label: string, onclick: () => void): HTMLButtonElement =>
      h("button", { type: "button", title: label, "aria-label": label, onclick }, text);

    this.search = h("input", {
      type: "search", class: "flame-search", placeholder: "Search, or /regex/", "aria-label": "Search functions", spellcheck: "false", autocomplete: "off",
      oninput: () => {
        clearTimeout(this.timer);
        this.timer = window.setTimeout(() => { this.flush(events); }, SEARCH_PAUSE_MS);
      },
      onkeydown: (event: KeyboardEvent) => {
        if (event.key === "Enter") {
          this.flush(events);
          events.step(event.shiftKey ? -1 : 1);
        }
      },
    });
    this.previous = button("\u2039", "Previous match", () => { events.step(-1); });
    this.next = button("\u203a", "Next match", () => { events.step(1); });
    this.undo = button("\u21b6 Undo", "\u21b6 Undo", () => { events.undo(); });
    this.reset = button("Reset", "Reset zoom, search and filters", () => { events.reset(); });
    this.mine = h("button", {
      type: "button", class: "flame-toggle", onclick: () => { events.change({ mine: this.mine.getAttribute("aria-pressed") === "true" ? "" : "1", zoom: "" }); },
    }, "Only my code");
    this.selects = {
      scale: select("Compare", (scale) => { events.change({ scale }); }),
      colour: select("Colour", (colour) => { events.change({ colour }); }),
      layout: select("Layout", (layout) => { events.change({ layout }); }),
      sort: select("Sort", (sort) => { events.change({ sort }); }),
      recursion: select("Recursion", (recursion) => { events.change({ recursion }); }),
    };
    this.shownButtons = SHOWNS.map(([value, text]) => h("button", { type: "button", "data-value": value, onclick: () => { events.change({ shown: value }); } }, text));
    this.element = h("div", { class: "flame-tools", role: "group", "aria-label": "Flame graph" },
      h("div", { class: "flame-searching" }, this.search, this.previous, this.next, this.found),
      h("div", { class: "flame-shown", role: "group", "aria-label": "Display" }, ...this.shownButtons), this.undo, this.reset,
      button("?", "Keyboard shortcuts", () => { events.keys(); }),
      h("div", { class: "flame-picks" }, ...Object.values(this.selects).map((pick) => pick.element), this.mine));
  }

  set(state: ToolbarState): void {
    const { display } = state;

    // Replace the text only if the search changed, so that typing is not lost.
    if (this.searched !== (display.search ?? ""))
      this.search.value = this.searched = display.search ?? "";
    this.found.textContent = state.found;
    this.found.classList.toggle("fault", state.isFault);
    this.search.setAttribute("aria-invalid", String(state.isFault));
    this.previous.disabled = this.next.disabled = state.matches === 0;
    this.undo.disabled = !state.canUndo;
    this.mine.disabled = !state.hasForeign;
    this.mine.setAttribute("aria-pressed", String(state.hasForeign && display.mine === "1"));
    this.mine.title = state.hasForeign ? MINE_HINT : "All code of this profile is of one kind: the application's own, or other code";
    this.selects.colour.set(state.scale ? DIFF_COLOURS : COLOURS, display.colour ?? "");
    this.selects.scale.set(SCALES, state.scale ?? "");
    this.selects.scale.element.hidden = state.scale === null;
    this.selects.sort.set(SORTS, display.sort ?? "");
    this.selects.recursion.set(RECURSIONS, display.recursion ?? "");
    this.selects.layout.set(LAYOUTS, display.layout ?? "");
    for (const button of this.shownButtons)
      button.setAttribute("aria-pressed", String(button.dataset["value"] === (display.shown ?? "both")));
  }

  /** Searches for typed text immediately, if its search is still delayed. */
  private flush(events: ToolbarEvents): void {
    clearTimeout(this.timer);
    if (this.searched === this.search.value)
      return;
    this.searched = this.search.value;
    events.change({ search: this.searched });
  }
}

export interface Chip {
  readonly text: string;
  readonly change: DisplayOptions;
}

/** Buttons for active filters. A click removes the filter. */
export function chipsOf(chips: readonly Chip[], onRemove: (change: DisplayOptions) => void): HTMLElement[] {
  return chips.map(({ text, change }) =>
    h("button", {
      type: "button", class: "flame-chip", "aria-label": `Remove: ${safeText(text, 80)}`, onclick: () => { onRemove(change); },
    }, h("span", {}, safeText(text, 80)), h("span", { "aria-hidden": "true" }, " \u00d7")));
}
