/** A button that opens content below it. Escape, a click elsewhere and moving the
 * focus away close it. */
import { h } from "../parts/dom.ts";

export interface Menu {
  readonly element: HTMLElement;
  readonly content: HTMLElement;
  close(): void;
  setText(text: string): void;
}

let last = 0;

export function menu(name: string): Menu {
  const id = `menu-${++last}`;
  const button = h("button", { type: "button", class: "menu-button", "aria-expanded": "false", "aria-controls": id, title: name });
  const content = h("div", { class: "menu-content", id, role: "group", "aria-label": name, hidden: true });
  const element = h("div", { class: "menu" }, button, content);
  // The document outlives the menu, so the listener is registered only while the menu is open.
  const outside = (event: Event): void => {
    if (event.target instanceof Node && !element.contains(event.target))
      setOpen(false);
  };
  const setOpen = (open: boolean): void => {
    content.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
    if (open)
      document.addEventListener("pointerdown", outside);
    else
      document.removeEventListener("pointerdown", outside);
  };

  button.addEventListener("click", () => { setOpen(content.hidden); });
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || content.hidden)
      return;
    event.stopPropagation();
    setOpen(false);
    button.focus();
  });
  element.addEventListener("focusout", (event) => {
    if (event.relatedTarget instanceof Node && !element.contains(event.relatedTarget))
      setOpen(false);
  });
  return {
    element, content,
    close: () => {
      setOpen(false);
      button.focus();
    },
    setText: (text) => {
      button.textContent = text;
      button.setAttribute("aria-label", `${name}: ${text}`);
    },
  };
}
