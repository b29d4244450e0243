/** Resolves a colour variable of the style sheet for the current theme, for use in a canvas. */
export function colourOf(element: HTMLElement, name: `--${string}`): string {
  const before = element.style.color;

  element.style.color = `var(${name})`;
  const colour = getComputedStyle(element).color;
  element.style.color = before;
  return colour;
}
