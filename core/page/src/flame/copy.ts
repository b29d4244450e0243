import { h } from "../parts/dom.ts";

/** Copies a text. Returns false if the browser refuses. Pages without TLS have no
 * clipboard API: there, selects the text and runs the command "copy". */
export async function copyText(text: string): Promise<boolean> {
  if (isSecureContext)
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // The browser refused, for example because the page does not have the focus. Try
      // a selection.
    }
  const before = document.activeElement;
  const box = h("textarea", { class: "flame-unseen", "aria-hidden": "true", readonly: true });
  box.value = text;
  document.body.append(box);
  box.select();
  // The only way on pages served over plain HTTP from another machine.
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  const isCopied = document.execCommand("copy");
  box.remove();
  if (before instanceof HTMLElement)
    before.focus();
  return isCopied;
}
