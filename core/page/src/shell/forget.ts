/** The button that removes the stored token. */
import { h } from "../parts/dom.ts";
import { followToken, forgetToken, hasToken } from "../parts/token.ts";
import type { HeaderPart, Shell } from "./header.ts";

export function forgetButton(shell: Shell): HeaderPart {
  const element = h("button", { type: "button", title: "Remove the server\u2019s token from this browser", onclick: () => {
    forgetToken();
    element.hidden = true;
    shell.announce("Token removed.");
    shell.refresh();
  } }, "Forget token");

  followToken(() => {
    element.hidden = !hasToken();
    shell.refresh();
  });
  return { element, update() { element.hidden = !hasToken(); } };
}
