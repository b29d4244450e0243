/** The dialog that lists the keyboard shortcuts of a flame graph. */
import { h } from "../parts/dom.ts";

const KEYS: readonly (readonly [keys: readonly string[], does: string])[] = [
  [["\u2191", "\u2193"], "go to the caller or the widest callee, depending on the layout"],
  [["\u2190", "\u2192"], "go to the neighbouring frame"],
  [["Home"], "go to the zoomed frame"],
  [["Enter"], "zoom to the frame"],
  [["Ctrl + wheel"], "zoom to the frame under the pointer, or out"],
  [["Drag"], "zoom to the smallest frame that contains the dragged range; Escape cancels"],
  [["Escape"], "zoom out; clear the highlight or sandwich"],
  [["/"], "search for text or a /regular expression/"],
  [["n", "N"], "go to the next or previous match"],
  [["s"], "show callers and callees (sandwich)"],
  [["f"], "show only stacks with the function (focus)"],
  [["h"], "hide the function, keep its callees"],
  [["m"], "highlight the function"],
  [["c"], "copy the name"],
  [["l"], "show the values of the function by line"],
  [["u", "r"], "undo, reset"],
  [["Shift F10"], "open the context menu"],
  [["?"], "show this list"],
];

export class Keys {
  readonly element: HTMLDialogElement;

  constructor(id: string) {
    const list = h("dl");

    for (const [keys, does] of KEYS)
      list.append(h("dt", {}, ...keys.map((key) => h("kbd", {}, key))), h("dd", {}, does));
    this.element = h("dialog", { class: "flame-keys", "aria-labelledby": id },
      h("h2", { id }, "Keyboard shortcuts of the flame graph and its table"), list,
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
