/** The filters of the list of traces. */
import type { WireRoot } from "../model/wire.ts";
import { h, replaceContent, safeText } from "../parts/dom.ts";
import { count } from "../parts/format.ts";
import { nameText } from "../spans/cells.ts";
import type { View } from "../views/view.ts";

/** The parameters of the address that are filters. */
export const FILTERS = ["service", "name", "minDuration", "attributes", "status"] as const;

const NAMES_MAX = 1000;

/** Parses "1.5 s", "200 ms" or "200" (milliseconds). Returns milliseconds, or null if it cannot. */
export function durationMs(text: string): number | null {
  const found = /^\s*(\d+(?:\.\d+)?)\s*(us|\u00b5s|ms|s|m|min|h)?\s*$/.exec(text);
  const units: Readonly<Record<string, number>> = { us: 0.001, "\u00b5s": 0.001, ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000 };

  return found ? Math.ceil(Number(found[1]) * (units[found[2] ?? "ms"] ?? 1)) : null;
}

export interface Filters {
  readonly element: HTMLElement;
  /** Sets the services and names to choose from. */
  setRoots(roots: readonly WireRoot[]): void;
}

/** The services with their numbers of traces, most traces first. */
function servicesOf(roots: readonly WireRoot[]): [service: string, traces: number][] {
  const traces = new Map<string, number>();

  for (const root of roots)
    traces.set(root.service, (traces.get(root.service) ?? 0) + root.traces);
  return [...traces].sort(([, a], [, b]) => b - a);
}

function serviceOptions(roots: readonly WireRoot[], chosen: string): HTMLOptionElement[] {
  const services = servicesOf(roots);
  const missing = chosen !== "" && !services.some(([service]) => service === chosen);

  return [h("option", { value: "" }, "All services"), ...missing ? [h("option", { value: chosen }, safeText(chosen, 80))] : [],
    ...services.map(([service, traces]) => h("option", { value: service }, `${nameText(service)} (${count(traces)})`))]
    .map((option) => {
      option.selected = option.value === chosen;
      return option;
    });
}

function nameOptions(roots: readonly WireRoot[], service: string): HTMLOptionElement[] {
  const names = new Set(roots.filter((root) => service === "" || root.service === service).map(({ name }) => name));

  return [...names].slice(0, NAMES_MAX).map((name) => h("option", { value: name }));
}

function field(view: View, name: string, label: string, hint: string, title?: string): { element: HTMLElement; input: HTMLInputElement } {
  const input = h("input", { name, value: view.state.parameters[name] ?? "", placeholder: hint, title, autocomplete: "off", spellcheck: "false" });

  return { input, element: h("label", {}, label, input) };
}

export function filters(view: View): Filters {
  const { service = "", status } = view.state.parameters;
  const fault = h("p", { class: "fault", role: "alert" });
  const services = h("select", { name: "service" }, ...serviceOptions([], service));
  const names = h("datalist", { id: "root-names" });
  const errors = h("input", { type: "checkbox", name: "status", checked: status === "error" });
  const name = field(view, "name", "Root span", "all");
  const minDuration = field(view, "minDuration", "Min. duration", "250 ms");
  const attributes = field(view, "attributes", "Attributes", "http.route=/cart", "NAME=VALUE or NAME, separated by spaces; a value with spaces is in double quotes. One span of the trace, with its resource, must have all of them.");
  const form = h("form", { class: "filters", role: "search", "aria-label": "Filter traces" },
    h("label", {}, "Service", services), name.element, names, minDuration.element, attributes.element,
    h("label", { title: "Only traces in which a span has the status error" }, errors, "Errors only"), h("button", {}, "Filter"), fault);
  const submit = (): void => {
    const least = minDuration.input.value.trim();

    if (least !== "" && durationMs(least) === null)
      fault.textContent = `Can\u2019t read \u201c${safeText(least, 40)}\u201d. Try 250 ms, 1.5 s or 2 min.`;
    else
      view.go({
        service: services.value, name: name.input.value.trim(), minDuration: least, attributes: attributes.input.value.trim(),
        status: errors.checked ? "error" : undefined, after: undefined,
      });
  };

  name.input.setAttribute("list", names.id);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  // A choice is applied at once. The new view then has the same field in focus.
  for (const choice of [services, errors])
    choice.addEventListener("change", () => {
      submit();
      document.querySelector<HTMLElement>(`.filters [name="${choice.name}"]`)?.focus();
    });
  return {
    element: form,
    setRoots(roots) {
      const options = serviceOptions(roots, services.value);

      // A change of its options would close a list that the user has opened.
      if (document.activeElement !== services || services.options.length !== options.length)
        services.replaceChildren(...options);
      replaceContent(names, ...nameOptions(roots, service));
    },
  };
}
