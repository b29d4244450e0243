/** The indicator for pending requests: a bar after a moment, a sentence after a few
 * seconds. */
import { h } from "../parts/dom.ts";

const BAR_AFTER_MS = 150;
const SENTENCE_AFTER_MS = 3000;

export interface Busy {
  readonly element: HTMLElement;
  /** Sets the number of pending requests. */
  set(waiting: number): void;
}

/** `target` is the element that the responses will change. */
export function busyBar(target: HTMLElement): Busy {
  const bar = h("div", { class: "busy-bar", role: "progressbar", "aria-label": "Loading", hidden: true });
  const sentence = h("p", { class: "busy-text", role: "status" });
  let since = 0;
  let timer: ReturnType<typeof setInterval> | undefined;

  function update(): void {
    const elapsed = performance.now() - since;

    bar.hidden = elapsed < BAR_AFTER_MS;
    sentence.textContent = elapsed < SENTENCE_AFTER_MS ? "" : `Still waiting for the server (${Math.round(elapsed / 1000)} s)\u2026`;
  }

  return {
    element: h("div", { class: "busy" }, bar, sentence),
    set(waiting) {
      target.setAttribute("aria-busy", String(waiting > 0));
      if (waiting > 0 && timer === undefined) {
        since = performance.now();
        timer = setInterval(update, BAR_AFTER_MS);
      } else if (waiting === 0 && timer !== undefined) {
        clearInterval(timer);
        timer = undefined;
        bar.hidden = true;
        sentence.textContent = "";
      }
    },
  };
}
