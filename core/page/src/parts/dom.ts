/** Elements without markup: text is text, whatever a profile holds. */

type Child = Node | string | null | undefined | false;
type Properties = Readonly<Record<string, string | number | boolean | undefined | ((event: never) => void)>>;

/** Characters that turn a line's direction around, or hide. */
const BIDI_MARKS = /[\u061c\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]/g;

/** A text from a profile as it can be shown: marks are visible, not obeyed; no
 * longer than `length_max` characters. */
export function shown(text: string, lengthMax = 500): string {
  const cut = text.length > lengthMax ? `${text.slice(0, lengthMax - 1)}\u2026` : text;

  return cut.replace(CONTROLS, "\ufffd").replace(BIDI_MARKS, "\ufffd");
}

/** Other children in an element; the focus goes to the one that stands for what
 * had it: a link to the same place, a control of the same name. */
export function renew(element: Element, ...children: Node[]): void {
  const nameOf = (each: Element): string =>
    `${each.tagName} ${each.getAttribute("aria-label") ?? each.getAttribute("href") ?? each.textContent}`;
  const focused = document.activeElement;
  const name = focused && focused !== element && element.contains(focused) ? nameOf(focused) : null;

  element.replaceChildren(...children);
  if (name !== null)
    Array.from(element.querySelectorAll<HTMLElement>("a, button, input, [tabindex]")).find((each) => nameOf(each) === name)?.focus({ preventScroll: true });
}

/** An element: `h("button", { class: "x", onclick: () => …, "aria-label": "…" }, "text", child)`.
 * Names that begin with "on" are listeners, `false` and undefined are left out. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K, properties: Properties = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);

  for (const [name, value] of Object.entries(properties))
    if (typeof value === "function")
      element.addEventListener(name.slice(2), value as (event: Event) => void);
    else if (value !== undefined && value !== false)
      element.setAttribute(name, value === true ? "" : String(value));
  for (const child of children)
    if (child !== null && child !== undefined && child !== false)
      element.append(child);
  return element;
}
