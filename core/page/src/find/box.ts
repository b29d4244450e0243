/** The box of the header that opens a trace, a span or a service from an id, an address
 * or a name. */
import { readAddress, writeAddress } from "../model/state.ts";
import { isAborted } from "../parts/api.ts";
import { h, safeText } from "../parts/dom.ts";
import { LatestRequest } from "../parts/latest.ts";
import { errorText } from "../shell/errors.ts";
import type { HeaderPart, Shell } from "../shell/header.ts";
import { findPlaces, type Place } from "./places.ts";

/** Returns the address if the text is an address of this page, else null. */
function ownAddress(text: string): URL | null {
  const address = URL.canParse(text) ? new URL(text) : null;

  if (address?.origin !== location.origin)
    return null;
  return new URL(writeAddress(readAddress(address)), location.href).pathname === address.pathname ? address : null;
}

export function findBox(shell: Shell): HeaderPart {
  const box = new FindBox(shell);

  return { element: box.element, update: () => { box.close(); } };
}

class FindBox {
  readonly element: HTMLElement;
  private readonly input = h("input", {
    class: "find-text", placeholder: "Find an id, link or name", "aria-label": "Find a trace, span or service by id, link or name",
    title: "A trace or span id, a traceparent, a link that contains one, or the name of a service or span (Ctrl+K)",
    "aria-keyshortcuts": "Control+K Meta+K", autocomplete: "off", spellcheck: "false",
  });
  private readonly result = h("div", { class: "find-result", hidden: true });
  private readonly latest = new LatestRequest(new AbortController().signal);

  constructor(private readonly shell: Shell) {
    this.element = h("form", {
      class: "find", role: "search", "aria-label": "Find",
      onsubmit: (event: Event) => {
        event.preventDefault();
        void this.run(this.input.value.trim());
      },
      onkeydown: (event: KeyboardEvent) => { this.key(event); },
      onfocusout: (event: FocusEvent) => {
        if (event.relatedTarget instanceof Node && !this.element.contains(event.relatedTarget))
          this.close();
      },
    }, this.input, this.result);
    document.addEventListener("keydown", (event) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      this.input.focus();
      this.input.select();
    });
    document.addEventListener("pointerdown", (event) => {
      if (event.target instanceof Node && !this.element.contains(event.target))
        this.close();
    });
  }

  close(): void {
    this.latest.next();
    this.result.hidden = true;
    this.result.replaceChildren();
  }

  private async run(text: string): Promise<void> {
    const signal = this.latest.next();
    const own = ownAddress(text);

    if (text === "")
      return;
    if (own) {
      location.assign(own);
      return;
    }
    try {
      const { places, isCertain, nothing } = await findPlaces(this.shell.api, text, this.shell.state(), signal);
      signal.throwIfAborted();
      if (places.length === 0)
        this.show(h("p", { class: "find-nothing", role: "alert" }, nothing));
      else if (isCertain)
        this.open(places[0]!);
      else
        this.choose(places);
    } catch (error) {
      if (!signal.aborted && !isAborted(error))
        this.show(errorText(error));
    }
  }

  private open({ change, view }: Place): void {
    this.input.value = "";
    this.shell.go(change, view);
  }

  private choose(places: readonly Place[]): void {
    this.show(h("ul", { "aria-label": "Results" }, ...places.map(({ title, kind, change, view }) => h("li", {},
      h("a", { href: this.shell.address(change, view), title: safeText(title, 1000) }, safeText(title, 200), " ", h("span", { class: "faint" }, kind))))));
    this.shell.announce(`${places.length} results. Press the down arrow to choose one.`);
  }

  private show(content: HTMLElement): void {
    this.result.replaceChildren(content);
    this.result.hidden = false;
  }

  private key(event: KeyboardEvent): void {
    const links = Array.from(this.result.querySelectorAll("a"));
    const at = links.findIndex((link) => link === document.activeElement);
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;

    if (event.key === "Escape" && !this.result.hidden) {
      event.preventDefault();
      event.stopPropagation();
      this.close();
      this.input.focus();
    } else if (step !== 0 && links.length) {
      event.preventDefault();
      (links[at + step] ?? (step > 0 ? links[0]! : this.input)).focus();
    }
  }
}
