/** The time range controls: a menu of presets and two fields, steps, refresh and live. */
import {
  FROM_DEFAULT, PRESETS, UNTIL_DEFAULT, isPeriod, isRelative, moved, rangeChange, rangeName, rangeOf, typedRange, unreadable, widened, type Range,
} from "../model/range.ts";
import { exactMoment } from "../parts/format.ts";
import { h } from "../parts/dom.ts";
import { zoneOf } from "../parts/zone.ts";
import type { HeaderPart, Shell } from "./header.ts";
import { menu } from "./menu.ts";

/** Seconds between two refreshes of a live view. */
export const LIVE_S = 5;

function currentRange(shell: Shell): Range {
  const { from, until } = shell.state().parameters;

  return rangeOf(from, until) ?? rangeOf(undefined, undefined)!;
}

let forms = 0;

function absoluteForm(shell: Shell, close: () => void): HeaderPart & { element: HTMLFormElement } {
  const from = h("input", { name: "from", autocomplete: "off", spellcheck: "false" });
  const until = h("input", { name: "until", autocomplete: "off", spellcheck: "false", placeholder: "now, or the end of the day or week" });
  const fault = h("p", { class: "fault", role: "alert", id: `range-fault-${++forms}` });
  const zone = h("p", { class: "faint range-zone" });
  const element = h("form", { class: "absolute" },
    h("label", {}, "From ", from), h("label", {}, "Until ", until), fault,
    h("p", { class: "faint" }, "14:05, yesterday 14:00, today, last week, now-90m, 2026-11-26 13:00, or seconds since 1970"), zone, h("button", {}, "Apply"));

  let last: string | null = null, untilFilled = "";

  // A day or a week alone is the range, unless the user has typed an end.
  from.addEventListener("input", () => {
    if (until.value === untilFilled || until.value === "")
      until.value = isPeriod(from.value) ? "" : untilFilled;
  });
  element.addEventListener("submit", (event) => {
    const range = typedRange(from.value, until.value, Date.now());

    event.preventDefault();
    if (!("invalid" in range)) {
      fault.textContent = "";
      close();
      shell.go({ ...range, live: undefined });
      return;
    }
    const invalid = range.invalid === from.value ? from : until;
    fault.textContent = unreadable(invalid.value);
    invalid.setAttribute("aria-describedby", fault.id);
    invalid.focus();
  });
  return {
    element,
    update(state) {
      const fieldText = (text: string): string => {
        const range = rangeOf(text, text);
        return text.startsWith("now") || !range ? text : exactMoment(range.fromMs);
      };
      const next = `${state.parameters["from"] ?? ""} ${state.parameters["until"] ?? ""} ${state.parameters["tz"] ?? ""}`;
      // Keep text that the user is typing if range and time zone have not changed.
      if (next === last)
        return;
      last = next;
      zone.textContent = `Time zone: ${zoneOf(currentRange(shell).untilMs)}`;
      from.value = fieldText(state.parameters["from"] ?? FROM_DEFAULT);
      until.value = untilFilled = fieldText(state.parameters["until"] ?? UNTIL_DEFAULT);
    },
  };
}

function steps(shell: Shell): HTMLElement {
  const step = (text: string, name: string, next: (range: Range) => Range): HTMLElement => h("button", {
    type: "button", title: name, "aria-label": name,
    onclick: () => { shell.go({ ...rangeChange(next(currentRange(shell))), live: undefined }); },
  }, text);

  const stepped = (range: Range, direction: -1 | 1): Range => shell.stepped?.(range, direction) ?? moved(range, direction / 2);

  return h("span", { class: "joined" },
    step("\u2039", "Earlier", (range) => stepped(range, -1)),
    step("\u203a", "Later", (range) => stepped(range, 1)),
    step("\u2212", "Zoom out: double the range", (range) => widened(range, Date.now())));
}

function liveButton(shell: Shell): HeaderPart {
  const element = h("button", { type: "button", class: "live", title: `Refresh every ${LIVE_S} s` }, "Live");

  element.addEventListener("click", () => {
    const { live, from, until } = shell.state().parameters;
    const length = Math.max(1, Math.round((currentRange(shell).untilMs - currentRange(shell).fromMs) / 1000));

    if (live !== undefined)
      shell.go({ live: undefined });
    else if (isRelative(from, until) && (until ?? UNTIL_DEFAULT) === "now")
      shell.go({ live: "1" });
    else
      shell.go({ live: "1", from: `now-${length}s`, until: undefined });
  });
  return {
    element,
    update(state) { element.setAttribute("aria-pressed", String(state.parameters["live"] !== undefined)); },
  };
}

export function rangeControl(shell: Shell): HeaderPart {
  const live = liveButton(shell);
  const list = menu("Time range");
  const form = absoluteForm(shell, () => { list.close(); });
  const presets = PRESETS.map(([from, name]) => h("button", {
    type: "button", class: "preset", "data-from": from,
    onclick: () => {
      list.close();
      shell.go({ from: from === FROM_DEFAULT ? undefined : from, until: undefined });
    },
  }, name));

  list.content.classList.add("range-menu");
  list.content.append(h("div", { class: "presets", role: "group", "aria-label": "Presets" }, ...presets), form.element);
  return {
    element: h("div", { class: "range" }, list.element, steps(shell),
      h("button", { type: "button", title: "Refresh", "aria-label": "Refresh", onclick: () => { shell.refresh(); } }, "\u21bb"), live.element),
    update(state) {
      const { from, until } = state.parameters;

      list.setText(rangeName(from, until));
      form.update(state);
      live.update(state);
      for (const each of presets)
        each.setAttribute("aria-pressed", String(each.dataset["from"] === (from ?? FROM_DEFAULT) && (until ?? "now") === "now"));
    },
  };
}
