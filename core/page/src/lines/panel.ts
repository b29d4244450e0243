/** The part below a flame graph that shows the values of one function by line. */
import { isAborted } from "../parts/api.ts";
import { h, replaceContent, safeText } from "../parts/dom.ts";
import { amount, count, moment } from "../parts/format.ts";
import { LatestRequest } from "../parts/latest.ts";
import { errorText } from "../shell/errors.ts";
import { lineTable } from "./table.ts";
import type { FunctionLines, LineValues } from "./values.ts";

const NAME_MAX = 200;

export interface ShownFunction {
  readonly name: string;
  readonly file: string;
  /** The function's first line; 0 if not known. */
  readonly start: number;
  /** Whether the graph shows only a part of the stacks. */
  readonly isFiltered: boolean;
  readonly load: FunctionLines;
}

export interface LinesEvents {
  close(): void;
  announce(text: string): void;
}

function isSame(one: ShownFunction | null, other: ShownFunction | null): boolean {
  return one?.name === other?.name && one?.file === other?.file && one?.load === other?.load;
}

export class LinesPanel {
  readonly element: HTMLElement;
  private readonly title = h("h2", {});
  private readonly place = h("p", { class: "faint lines-place" });
  private readonly filterNote = h("p", { class: "faint", hidden: true },
    "The values include all stacks. The filters of the graph do not change them.");
  private readonly content = h("div", {});
  private readonly latest: LatestRequest;
  private shown: ShownFunction | null = null;
  /** The element that had the focus before the panel was opened. */
  private from: HTMLElement | null = null;
  private announced = "";

  constructor(private readonly events: LinesEvents, signal: AbortSignal) {
    const close = (): void => {
      events.close();
      this.from?.focus();
    };

    this.latest = new LatestRequest(signal);
    this.element = h("section", {
      class: "lines", hidden: true, tabindex: -1, onkeydown: (event: KeyboardEvent) => {
        if (event.key === "Escape")
          close();
      },
    }, h("div", { class: "lines-head" }, this.title, h("button", { type: "button", onclick: close }, "Close lines")), this.place, this.filterNote, this.content);
  }

  /** Shows a function; null hides the panel. Loads the values again only if the function
   * or its stacks have changed. The old values stay until the new ones arrive. */
  set(shown: ShownFunction | null): void {
    const before = this.shown;

    this.shown = shown;
    this.element.hidden = !shown;
    if (!shown) {
      if (before)
        this.clear();
      return;
    }
    this.filterNote.hidden = !shown.isFiltered;
    if (isSame(before, shown))
      return;
    if (before?.name !== shown.name || before.file !== shown.file)
      this.content.replaceChildren(h("p", { class: "faint" }, "Loading\u2026"));
    this.title.textContent = `Lines of ${safeText(shown.name, NAME_MAX)}`;
    this.element.setAttribute("aria-label", this.title.textContent);
    this.place.textContent = safeText(shown.start > 0 ? `${shown.file}:${shown.start}` : shown.file);
    void this.load(shown, this.latest.next());
  }

  /** Scrolls the panel into view and moves the focus to it, after the user has opened it. */
  reach(): void {
    if (document.activeElement instanceof HTMLElement && !this.element.contains(document.activeElement))
      this.from = document.activeElement;
    this.element.scrollIntoView({ block: "nearest" });
    this.element.focus({ preventScroll: true });
  }

  /** Removes the lines of the previous function. Aborting is slow, even without a request. */
  private clear(): void {
    this.latest.next();
    this.announced = "";
    this.content.replaceChildren();
  }

  private async load({ name, file, load }: ShownFunction, signal: AbortSignal): Promise<void> {
    try {
      const values = await load(name, file, signal);

      if (signal.aborted)
        return;
      this.show(values);
      this.announce(`${this.title.textContent}: ${summaryOf(values)}`);
    } catch (error) {
      if (!signal.aborted && !isAborted(error))
        replaceContent(this.content, errorText(error));
    }
    // The values make the panel taller.
    if (document.activeElement === this.element)
      this.element.scrollIntoView({ block: "nearest" });
  }

  /** Replaces the values and keeps the scroll position of the table. */
  private show(values: LineValues): void {
    const { scrollTop: top, scrollLeft: left } = this.content.querySelector(".lines-table") ?? { scrollTop: 0, scrollLeft: 0 };

    replaceContent(this.content, ...this.contentOf(values));
    this.content.querySelector(".lines-table")?.scrollTo({ top, left, behavior: "instant" });
  }

  /** Announces a text unless it is the last one, which a refresh would repeat. */
  private announce(text: string): void {
    if (this.announced !== text)
      this.events.announce(text);
    this.announced = text;
  }

  private contentOf(values: LineValues): HTMLElement[] {
    const isKnown = values.rows.some(({ line }) => line > 0);
    const summary = h("p", {}, summaryOf(values));

    return isKnown ? [summary, ...mergedNote(values), ...sourceNotes(values), lineTable(values, this.title.textContent)] : [summary];
  }
}

function mergedNote({ merged = 0 }: LineValues): HTMLElement[] {
  return merged === 0 ? [] : [h("p", {}, "The range has too many stacks: the lines of small frames are missing. Select a shorter range to see them.")];
}

/** Describes the file whose text is shown, which may differ from the program's file. */
function sourceNotes({ source }: LineValues): HTMLElement[] {
  if (source === undefined)
    return [];
  if (source === null)
    return [h("p", { class: "faint" }, "The directories of the server\u2019s option --source contain no readable file with this path.")];
  return [
    h("p", { class: "faint" }, "The text is from the server\u2019s file ", h("code", {}, safeText(source.file)), "."),
    ...source.isNewer
      ? [h("p", { class: "lines-moved" }, `This file was changed at ${moment(source.modifiedMs)}, after the beginning of the time range. Its lines may have moved.`)] : [],
  ];
}

function summaryOf({ rows, self, total, unit }: LineValues): string {
  const known = rows.filter(({ line }) => line > 0).length;

  if (rows.length === 0)
    return "The selected stacks do not contain this function.";
  if (known === 0)
    return "This profile has no line numbers for this function.";
  return `Self ${amount(self, unit)}, total ${amount(total, unit)}, in ${count(known)} ${known === 1 ? "line" : "lines"}.`;
}
