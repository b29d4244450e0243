/** The headings of the two halves of a sandwich. */
import { h, safeText } from "../../parts/dom.ts";

export class Halves {
  readonly upper = h("h3", { class: "flame-half", hidden: true });
  readonly lower = h("h3", { class: "flame-half", hidden: true });

  /** Shows the headings if the graphs are a sandwich of the function. */
  set(isSandwich: boolean, name: string): void {
    this.upper.hidden = this.lower.hidden = !isSandwich;
    this.upper.textContent = `Callers of ${safeText(name, 200)}`;
    this.lower.textContent = `Callees of ${safeText(name, 200)}`;
  }
}
