/** Light, dark, or as the system says: kept in this browser. */
import { h } from "../parts/dom.ts";
import { aroundPrint } from "../flame/printed.ts";

const KEY = "spanprof-theme";
const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

/** A browser may refuse to keep anything; then the system's is taken. */
function kept(): Theme {
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

/** Listens for "themechange" on the window where something is drawn with
 * colours of its own. */
export function themeControl(): HTMLElement {
  const select = h("select", { "aria-label": "Theme", title: "Theme" },
    ...THEMES.map((theme) => h("option", { value: theme }, theme[0]!.toUpperCase() + theme.slice(1))));

  select.value = kept();
  apply(kept());
  // Paper is white, whatever the screen is.
  aroundPrint(new AbortController().signal, () => { apply("light"); }, () => { apply(select.value as Theme); }, true);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => dispatchEvent(new Event("themechange")));
  select.addEventListener("change", () => {
    const theme = select.value as Theme;

    apply(theme);
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // It holds until the page is left.
    }
  });
  return select;
}
