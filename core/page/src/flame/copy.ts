import { h } from "../parts/dom.ts";

/** Copies a text; false: the browser refused. Without TLS there is no clipboard
 * interface: then a selection is copied, as by the user. */
export async function copyText(text: string): Promise<boolean> {
  if (isSecureContext)
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Refused, as where the page has not the focus: the other way may do.
    }
  const before = document.activeElement;
  const box = h("textarea", { class: "flame-unseen", "aria-hidden": "true", readonly: true });
  box.value = text;
  document.body.append(box);
  box.select();
  // The one way where the page comes over plain HTTP from another host.
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  const isCopied = document.execCommand("copy");
  box.remove();
  if (before instanceof HTMLElement)
    before.focus();
  return isCopied;
}
