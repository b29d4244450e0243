/** The button that copies a link to the current view, with absolute times. */
import { absoluteLink } from "../export/origin.ts";
import { copyText } from "../flame/copy.ts";
import { h } from "../parts/dom.ts";
import type { Shell } from "./header.ts";

export function copyButton(shell: Shell): HTMLElement {
  const field = h("input", { class: "copy-link", readonly: true, "aria-label": "Link to this view", hidden: true });
  const button = h("button", { type: "button", title: "Copy a link with absolute times" }, "Copy link");

  field.addEventListener("blur", () => { field.hidden = true; });
  button.addEventListener("click", () => {
    const address = absoluteLink(Date.now());

    void copyText(address).then((isCopied) => {
      if (isCopied) {
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = "Copy link"; }, 1500);
        shell.announce("Link copied.");
        return;
      }
      field.value = address;
      field.hidden = false;
      field.focus();
      field.select();
      shell.announce("The browser does not allow copying. Press Ctrl+C to copy the selected link.");
    });
  });
  return h("span", { class: "copy" }, button, field);
}
