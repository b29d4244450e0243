/** The button that copies a link to the current view, with absolute times. */
import { rangeOf, rangeChange } from "../model/range.ts";
import { h } from "../parts/dom.ts";
import type { Shell } from "./header.ts";

const SIDES = [["from", "until"], ["leftFrom", "leftUntil"], ["rightFrom", "rightUntil"]] as const;

export function lastingAddress(shell: Shell, nowMs = Date.now()): string {
  const { parameters } = shell.state();
  const change: Record<string, string | undefined> = { live: undefined };

  for (const [from, until] of SIDES) {
    const range = rangeOf(parameters[from], parameters[until], nowMs);
    if (range && (from === "from" || parameters[from] !== undefined || parameters[until] !== undefined)) {
      const times = rangeChange(range);
      change[from] = times.from;
      change[until] = times.until;
    }
  }
  return new URL(shell.address(change), location.href).href;
}

/** Returns false if the browser refuses. The clipboard API needs https or localhost. */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

export function copyButton(shell: Shell): HTMLElement {
  const field = h("input", { class: "copy-link", readonly: true, "aria-label": "Link to this view", hidden: true });
  const button = h("button", { type: "button", title: "Copy a link with absolute times" }, "Copy link");

  field.addEventListener("blur", () => { field.hidden = true; });
  button.addEventListener("click", () => {
    const address = lastingAddress(shell);

    void copy(address).then((done) => {
      if (done) {
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = "Copy link"; }, 1500);
        shell.say("Link copied.");
        return;
      }
      field.value = address;
      field.hidden = false;
      field.focus();
      field.select();
      shell.say("The browser does not allow copying. Press Ctrl+C to copy the selected link.");
    });
  });
  return h("span", { class: "copy" }, button, field);
}
