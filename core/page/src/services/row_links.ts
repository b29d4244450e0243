/** The links of a service to other views, and the button that saves its profile. */
import { originOf } from "../export/origin.ts";
import { fileName, save } from "../export/save.ts";
import { h, safeText } from "../parts/dom.ts";
import { count } from "../parts/format.ts";
import { ID_LABELS, withApplication } from "../query/parse.ts";
import { toOtherView } from "../spans/links.ts";
import type { View } from "../views/view.ts";

const NAME_MAX = 80;
/** Labels with more values, such as pods, are rarely compared. */
const VALUES_MAX = 20;
const LABELS_MAX = 6;

export interface LabelName {
  name: string;
  values: number;
}

function pprofButton(view: View, service: string): HTMLElement {
  const query = withApplication("", service);
  const name = safeText(service, NAME_MAX);
  const fault = h("span", { class: "fault", role: "alert" });
  const saveProfile = async (): Promise<void> => {
    const { type, from, until } = view.state.parameters;
    const address = new URL(view.address({ query }, "explore"), location.href);

    fault.textContent = "";
    try {
      save(await originOf(view.api, { query, type, from, until }, address).profile!(service), `${fileName(service)}.pb.gz`);
    } catch (error) {
      fault.textContent = error instanceof Error ? safeText(error.message) : String(error);
    }
  };

  return h("span", {}, h("button", {
    type: "button", class: "link", title: `Save the profile of ${name} as a pprof file`, "aria-label": `Save pprof of ${name}`, onclick: () => { void saveProfile(); },
  }, "Save pprof"), fault);
}

/** Links to the views of one service. */
export function serviceLinks(view: View, service: string): HTMLElement {
  const query = withApplication("", service);
  const link = (title: string, to: string): HTMLElement => h("a", { href: to, "aria-label": `${title} of ${safeText(service, NAME_MAX)}` }, title);

  return h("span", { class: "service-links" },
    link("Spans", view.address(toOtherView({ query }), "spans")),
    link("Traces", view.address(toOtherView({ query, service }), "traces")),
    link("Labels", view.address(toOtherView({ query }), "labels")), pprofButton(view, service));
}

/** Links to the labels of a service whose values can be compared; the labels with the
 * fewest values come first. */
export function labelLinks(view: View, service: string, labels: readonly LabelName[]): HTMLElement | null {
  const compared = labels.filter(({ name, values }) => values > 1 && values <= VALUES_MAX && name !== "span_name" && !ID_LABELS.includes(name))
    .sort((a, b) => a.values - b.values || a.name.localeCompare(b.name)).slice(0, LABELS_MAX);

  return compared.length === 0 ? null : h("ul", { class: "row-list" }, ...compared.map(({ name, values }) => h("li", {},
    h("a", { href: view.address(toOtherView({ query: withApplication("", service), label: name }), "labels"), title: `Compare the values of ${safeText(name, NAME_MAX)}` },
      safeText(name, NAME_MAX)), ` ${count(values)} values`)));
}
