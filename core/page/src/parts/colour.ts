/** Colours of the style, as a canvas can take them: resolved for the theme. */
export function colourOf(element: HTMLElement, name: `--${string}`): string {
  const before = element.style.color;

  element.style.color = `var(${name})`;
  const colour = getComputedStyle(element).color;
  element.style.color = before;
  return colour;
}
