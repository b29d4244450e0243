/** The context menu of a function, for mouse and keyboard. */
import { h } from "../parts/dom.ts";

export interface Item {
  readonly text: string;
  /** The keyboard shortcut. */
  readonly key: string;
  readonly act: () => void;
}

export class Menu {
  readonly element = h("div", { class: "flame-menu", role: "menu", hidden: true, tabindex: -1 });
  private from: HTMLElement | null = null;

  constructor() {
    this.element.addEventListener("keydown", (event) => { this.onKey(event); });
    this.element.addEventListener("focusout", (event) => {
      if (!(event.relatedTarget instanceof Node && this.element.contains(event.relatedTarget)))
        this.element.hidden = true;
    });
  }

  /** Opens the menu at a position of the window. Closing it returns the focus to `from`. */
  open(items: readonly Item[], title: string, x: number, y: number, from: HTMLElement): void {
    this.from = from;
    this.element.setAttribute("aria-label", title);
    this.element.replaceChildren(h("div", { class: "flame-menu-title", role: "presentation" }, title), ...items.map((item) =>
      h("button", {
        type: "button", role: "menuitem", tabindex: -1, "aria-keyshortcuts": item.key,
        onclick: () => {
          this.close();
          item.act();
        },
      }, h("span", {}, item.text), h("kbd", { "aria-hidden": "true" }, item.key))));
    this.element.hidden = false;
    const { width, height } = this.element.getBoundingClientRect();
    this.element.style.left = `${Math.max(4, Math.min(x, innerWidth - width - 4))}px`;
    this.element.style.top = `${Math.max(4, Math.min(y, innerHeight - height - 4))}px`;
    this.buttons()[0]?.focus();
  }

  close(): void {
    this.element.hidden = true;
    this.from?.focus();
  }

  private buttons(): HTMLButtonElement[] {
    return [...this.element.querySelectorAll("button")];
  }

  private onKey(event: KeyboardEvent): void {
    const buttons = this.buttons();
    const at = buttons.findIndex((button) => button === document.activeElement);
    const to: Record<string, number> = {
      ArrowDown: (at + 1) % buttons.length, ArrowUp: (at - 1 + buttons.length) % buttons.length, Home: 0, End: buttons.length - 1,
    };

    event.stopPropagation();
    if (event.key in to)
      buttons[to[event.key]!]?.focus();
    else if (event.key === "Escape" || event.key === "Tab")
      this.close();
    else
      return;
    event.preventDefault();
  }
}
