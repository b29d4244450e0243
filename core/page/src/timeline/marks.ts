/** Annotations on a timeline: marks whose details can be opened and removed, and a
 * form for new ones. A removal can be undone for some seconds. */
import { Problem, type Api } from "../parts/api.ts";
import type { WireAnnotation } from "../model/wire.ts";
import { moment } from "../parts/format.ts";
import { readTime, typedTime, unreadable } from "../model/range.ts";
import { h, safeText } from "../parts/dom.ts";

const TEXT_MAX = 4096;
const UNDO_MS = 20_000;

export interface MarksOptions {
  api: Api;
  /** The application of new annotations; null for all applications. */
  application: string | null;
  /** The position of a time in CSS pixels; null if outside of the timeline. */
  left: (ms: number) => number | null;
  /** The addresses of the comparison of the times before and after a time. */
  comparisons: (ms: number) => readonly { name: string; address: string }[];
  onChange: () => Promise<void>;
  announce: (text: string) => void;
}

export class Marks {
  readonly element = h("div", { class: "marks" });
  readonly details = h("div", { class: "mark-details" });
  private annotations: readonly WireAnnotation[] = [];
  private opened: HTMLElement | null = null;

  constructor(private readonly options: MarksOptions) {
    this.details.addEventListener("keydown", (event) => {
      if (event.key === "Escape")
        this.close();
    });
  }

  set(annotations: readonly WireAnnotation[]): void {
    const focused = this.element.contains(document.activeElement);

    this.annotations = annotations;
    if (!focused)
      this.place();
  }

  /** Positions the marks at their times. */
  place(): void {
    const marks: HTMLElement[] = [];

    for (const each of this.annotations) {
      const left = this.options.left(each.timeMs);
      if (left === null)
        continue;
      const mark = h("button", {
        type: "button", class: "mark", title: `${moment(each.timeMs)}: ${safeText(each.text, 200)}`,
        "aria-label": `Annotation at ${moment(each.timeMs)}: ${safeText(each.text, 200)}`, "aria-expanded": "false",
        onclick: () => { this.openDetails(each, mark); },
      });
      mark.style.left = `${left}px`;
      marks.push(mark);
    }
    this.element.replaceChildren(...marks);
  }

  /** Opens the form for an annotation at this time. */
  openForm(timeMs: number, from: HTMLElement): void {
    const text = h("input", { name: "text", required: true, maxlength: TEXT_MAX, autocomplete: "off", placeholder: "Deployed 1.4" });
    const time = h("input", { name: "time", required: true, autocomplete: "off", value: moment(timeMs) });
    const everywhere = h("input", { type: "checkbox", name: "everywhere" });
    const fault = h("p", { class: "fault", role: "alert" });
    const { application } = this.options;
    const form = h("form", { class: "mark-form", "aria-label": "New annotation" },
      h("label", {}, "Text ", text), h("label", {}, "Time ", time),
      application !== null && h("label", { class: "inline" }, everywhere, " for all applications"),
      h("button", {}, "Add"), h("button", { type: "button", onclick: () => { this.close(); } }, "Cancel"), fault);

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      // The field shows no milliseconds; keep those of an unchanged time.
      const typed = time.value === moment(timeMs) ? String(timeMs) : typedTime(time.value, Date.now());
      const ms = typed === null ? null : readTime(typed, Date.now());
      if (ms === null) {
        fault.textContent = unreadable(time.value);
        return;
      }
      void this.add({ text: text.value, timeMs: Math.round(ms), application: everywhere.checked ? null : application }, fault);
    });
    this.open(form, from);
    text.focus();
  }

  private openDetails(annotation: WireAnnotation, mark: HTMLElement): void {
    const links = this.options.comparisons(annotation.timeMs).map(({ name, address }) => h("a", { href: address }, name));
    const fault = h("p", { class: "fault", role: "alert" });
    const remove = h("button", { type: "button", onclick: () => { void this.remove(annotation, fault); } }, "Remove");

    this.open(h("div", { class: "mark-info", role: "group", "aria-label": "Annotation" },
      h("p", {}, h("strong", {}, moment(annotation.timeMs)), " ", safeText(annotation.text, TEXT_MAX)),
      h("p", { class: "faint" }, annotation.application === null ? "All applications" : safeText(annotation.application, 200)),
      ...links, remove, h("button", { type: "button", onclick: () => { this.close(); } }, "Close"), fault), mark);
    (links[0] ?? remove).focus();
  }

  private open(content: HTMLElement, from: HTMLElement): void {
    this.opened?.setAttribute("aria-expanded", "false");
    this.opened = from;
    from.setAttribute("aria-expanded", "true");
    this.details.replaceChildren(content);
  }

  private close(): void {
    this.details.replaceChildren();
    this.opened?.setAttribute("aria-expanded", "false");
    if (this.opened?.isConnected)
      this.opened.focus();
    this.opened = null;
    this.place();
  }

  private async add(annotation: Omit<WireAnnotation, "id"> | WireAnnotation, fault: HTMLElement, done = "Annotation added."): Promise<void> {
    await this.change(done, fault, async () => {
      await this.options.api.fetch("annotations", {}, {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(annotation),
      });
    });
  }

  private async remove(annotation: WireAnnotation, fault: HTMLElement): Promise<void> {
    await this.change("Annotation removed.", fault, async () => {
      await this.options.api.fetch(`annotations/${encodeURIComponent(annotation.id)}`, {}, { method: "DELETE" });
    }, () => { this.offerUndo(annotation); });
  }

  /** Shows a button that restores the annotation with its id. Removes the button after
   * UNDO_MS, unless the button has the focus or is under the pointer. */
  private offerUndo(annotation: WireAnnotation): void {
    const fault = h("p", { class: "fault", role: "alert" });
    const undo = h("button", { type: "button", onclick: () => { void this.add(annotation, fault, "Annotation restored."); } }, "Undo");
    const line = h("div", { class: "mark-info" }, h("p", {}, `Removed \u201c${safeText(annotation.text, 200)}\u201d.`), undo, fault);
    const expire = (): void => {
      if (line.matches(":hover, :focus-within"))
        setTimeout(expire, UNDO_MS);
      else
        line.remove();
    };

    this.details.replaceChildren(line);
    undo.focus();
    setTimeout(expire, UNDO_MS);
  }

  private async change(done: string, fault: HTMLElement, run: () => Promise<void>, after: () => void = () => undefined): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (!(error instanceof Problem))
        throw error;
      fault.textContent = safeText(error.message);
      return;
    }
    this.close();
    this.options.announce(done);
    after();
    await this.options.onChange();
    this.place();
  }
}
