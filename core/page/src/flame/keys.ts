/** The dialog that lists the keyboard shortcuts of a flame graph. */
import { h } from "../parts/dom.ts";

const KEYS: readonly (readonly [keys: readonly string[], does: string])[] = [
  [["\u2191", "\u2193"], "to the caller, to the widest callee; by the way that the graph is drawn"],
  [["\u2190", "\u2192"], "to the frame beside it"],
  [["Home"], "to the frame that is zoomed to, else to all"],
  [["Enter"], "zoom into the frame"],
  [["Escape"], "zoom out; end a highlight or a sandwich"],
  [["/"], "search: a part of a name, or /a regular expression/"],
  [["n", "N"], "to the next match, to the one before"],
  [["s"], "callers and callees of the function (sandwich)"],
  [["f"], "only stacks through the function (focus)"],
  [["h"], "leave the function out (hide)"],
  [["m"], "highlight the function"],
  [["c"], "copy its name"],
  [["u", "r"], "undo the last step, show all again"],
  [["Shift F10"], "all that can be done, as a menu"],
  [["?"], "this list"],
];

export class Keys {
  readonly element: HTMLDialogElement;

  constructor(id: string) {
    const list = h("dl");

    for (const [keys, does] of KEYS)
      list.append(h("dt", {}, ...keys.map((key) => h("kbd", {}, key))), h("dd", {}, does));
    this.element = h("dialog", { class: "flame-keys", "aria-labelledby": id },
      h("h2", { id }, "Keys of the flame graph and its table"), list,
      h("form", { method: "dialog" }, h("button", { type: "submit" }, "Close")));
    // A click outside closes the dialog. Its key events must not reach the graph.
    this.element.addEventListener("click", (event) => {
      if (event.target === this.element)
        this.element.close();
    });
    this.element.addEventListener("keydown", (event) => { event.stopPropagation(); });
  }

  /** Opens the dialog. Closing it restores the focus. */
  open(): void {
    if (!this.element.open)
      this.element.showModal();
  }
}
