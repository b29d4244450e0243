/** Creates elements without parsing markup, so text from profiles cannot inject any. */

type Child = Node | string | null | undefined | false;
type Properties = Readonly<Record<string, string | number | boolean | undefined | ((event: never) => void)>>;

/** Characters that are invisible or change the direction of text, except the joiners
 * between the parts of an emoji, such as a family. */
const BIDI_MARKS = /[\u061c\u200b\u200c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]|(?<!\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d|\u200d(?!\p{Extended_Pictographic})/gu;
const PLAIN = /^[ -~\u2026]*$/;
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]/g;

/** Marks, joiners, modifiers and tags, which belong to the character before them. */
const JOINED = /^[\p{M}\u200d\u{1f3fb}-\u{1f3ff}\u{e0020}-\u{e007f}]/u;
/** The first of the two letters of a flag, at the end of a text. */
const HALF_FLAG = /(?<!\p{Regional_Indicator})(?:\p{Regional_Indicator}{2})*\p{Regional_Indicator}$/u;
const CHARACTER_MAX = 64;

function isWithinCharacter(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - CHARACTER_MAX), at), after = text.slice(at, at + 2);

  return /[\ud800-\udbff]$/.test(before) || JOINED.test(after) || before.endsWith("\u200d")
    || HALF_FLAG.test(before) && /^\p{Regional_Indicator}/u.test(after);
}

/** Returns the last position up to `max` that does not divide an emoji, a flag or another
 * character of several code units. */
function cutAt(text: string, max: number): number {
  let at = max;

  while (at > max - CHARACTER_MAX && at > 0 && isWithinCharacter(text, at))
    at--;
  return at;
}

/** Makes text from a profile safe to display: control and direction characters
 * become visible, and the text is cut to `lengthMax` characters. */
export function safeText(text: string, lengthMax = 500): string {
  const cut = text.length > lengthMax ? `${text.slice(0, cutAt(text, lengthMax - 1))}\u2026` : text;

  return PLAIN.test(cut) ? cut : cut.replace(CONTROLS, "\ufffd").replace(BIDI_MARKS, "\ufffd");
}

/** Replaces an element's children. If one of them had the focus, the new child of
 * the same tag and name (or link target) gets it. */
export function replaceContent(element: Element, ...children: Node[]): void {
  const nameOf = (each: Element): string =>
    `${each.tagName} ${each.getAttribute("aria-label") ?? each.getAttribute("href") ?? each.textContent}`;
  const focused = document.activeElement;
  const name = focused && focused !== element && element.contains(focused) ? nameOf(focused) : null;

  element.replaceChildren(...children);
  if (name !== null)
    Array.from(element.querySelectorAll<HTMLElement>("a, button, input, [tabindex]")).find((each) => nameOf(each) === name)?.focus({ preventScroll: true });
}

/** Creates an element: `h("button", { class: "x", onclick: () => …, "aria-label": "…" }, "text", child)`.
 * Functions are event listeners. Properties that are `false` or undefined are
 * omitted. */
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
