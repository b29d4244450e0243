/** The theme: light, dark, or the system's. The browser stores the choice. */
import { h } from "../parts/dom.ts";
import { aroundPrint } from "../flame/table/printed.ts";

const KEY = "spanprof-theme";
const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

/** Returns "system" also if the browser denies access to its storage. */
function storedTheme(): Theme {
  try {
    return THEMES.find((each) => each === localStorage.getItem(KEY)) ?? "system";
  } catch {
    return "system";
  }
}

function apply(theme: Theme): void {
  if (theme === "system")
    delete document.documentElement.dataset["theme"];
  else
    document.documentElement.dataset["theme"] = theme;
  dispatchEvent(new Event("themechange"));
}

/** Creates the theme picker. Canvases must listen for the window's "themechange"
 * event and redraw. */
export function themeControl(): HTMLElement {
  const select = h("select", { "aria-label": "Theme", title: "Theme" },
    ...THEMES.map((theme) => h("option", { value: theme }, theme[0]!.toUpperCase() + theme.slice(1))));

  select.value = storedTheme();
  apply(storedTheme());
  // Print in light colours.
  aroundPrint(new AbortController().signal, () => { apply("light"); }, () => { apply(select.value as Theme); }, true);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => dispatchEvent(new Event("themechange")));
  select.addEventListener("change", () => {
    const theme = select.value as Theme;

    apply(theme);
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // Without access to the storage, the choice is lost when the page is reloaded.
    }
  });
  return select;
}
