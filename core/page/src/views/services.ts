/** The Services view: all services of the server, with their value, the change since
 * yesterday, and their top spans. The page opens it if there are several services. */
import type { WireLabelValue, WireSpan } from "../model/wire.ts";
import { typeName, typeOf, unitOf } from "../model/choice.ts";
import { moved, rangeChange, rangeOf, type Range } from "../model/range.ts";
import { h, replaceContent, safeText } from "../parts/dom.ts";
import { amount, count, percent } from "../parts/format.ts";
import { LatestRequest } from "../parts/latest.ts";
import { withApplication } from "../query/parse.ts";
import { changeOf, type ServiceChange } from "../services/change.ts";
import { labelLinks, serviceLinks, type LabelName } from "../services/row_links.ts";
import { emptyReason } from "../explore/empty.ts";
import { nameText } from "../spans/cells.ts";
import { spanNameChange } from "../spans/links.ts";
import type { View } from "./view.ts";

const SERVICES_MAX = 200;
/** Services with the largest values, whose top spans and labels are requested. */
const DETAILS_OF_MAX = 20;
const SPANS_MAX = 3;
const NAME_MAX = 80;
const DAY_MS = 86_400_000;

/** The cells of a row that are filled after the table has been shown. */
interface Details {
  readonly spans: HTMLElement;
  readonly labels: HTMLElement;
}

interface Values {
  total: number;
  values: WireLabelValue[];
}

/** The same time of the previous day. */
function dayBefore(range: Range): Range {
  return moved(range, -DAY_MS / Math.max(1, range.untilMs - range.fromMs));
}

function limitNote(services: number): Node[] {
  return services < SERVICES_MAX ? [] : [h("p", {}, `Only the ${count(SERVICES_MAX)} services with the largest values are listed.`)];
}

class Services {
  private readonly place = h("div", {});
  private readonly latest: LatestRequest;
  private readonly unit: string;
  private readonly name: string;

  constructor(private readonly view: View) {
    const type = typeOf(view.state.parameters);

    this.unit = unitOf(type);
    this.name = typeName(type) === "cpu" ? "CPU" : typeName(type);
    this.latest = new LatestRequest(view.signal);
    view.element.append(h("h1", {}, "Services"), this.place);
  }

  async load(): Promise<void> {
    const signal = this.latest.next();
    const { from, until } = this.view.state.parameters;
    const range = rangeOf(from, until);
    const [now, before] = await Promise.all([
      this.values({ from, until }, signal),
      range ? this.values(rangeChange(dayBefore(range)), signal) : { total: 0, values: [] },
    ]);

    if (now.values.length === 0) {
      const reason = await emptyReason(this.view);
      signal.throwIfAborted();
      replaceContent(this.place, reason);
      return;
    }
    const details = new Map<string, Details>();
    const rows = now.values.map((value) => this.row(value, before.values.find((each) => each.value === value.value), now.total, details));
    replaceContent(this.place, this.table(rows), ...limitNote(now.values.length));
    await Promise.all([...details].slice(0, DETAILS_OF_MAX).flatMap(([name, cells]) => [this.loadSpans(name, cells.spans, signal), this.loadLabels(name, cells.labels, signal)]));
  }

  private async loadSpans(name: string, cell: HTMLElement, signal: AbortSignal): Promise<void> {
    const query = withApplication("", name);
    const { type, from, until } = this.view.state.parameters;
    const { spans } = await this.view.api.get<{ spans: WireSpan[] }>("spans", { query, type, from, until, limit: SPANS_MAX }, signal);

    replaceContent(cell, ...this.spanLinks(query, spans));
  }

  private async loadLabels(name: string, cell: HTMLElement, signal: AbortSignal): Promise<void> {
    const { type, from, until } = this.view.state.parameters;
    const { labels } = await this.view.api.get<{ labels: LabelName[] }>("labels", { query: withApplication("", name), type, from, until }, signal);

    replaceContent(cell, labelLinks(this.view, name, labels) ?? new Text("\u2013"));
  }

  private async values(times: { from?: string | undefined; until?: string | undefined }, signal: AbortSignal): Promise<Values> {
    const { type } = this.view.state.parameters;

    return await this.view.api.get<Values>("labels", { label: "service_name", type, limit: SERVICES_MAX, ...times }, signal);
  }

  private spanLinks(query: string, spans: readonly WireSpan[]): Node[] {
    const links = spans.filter(({ name }) => name !== null).map(({ name, total }) => h("li", {},
      h("a", { href: this.view.address({ query, ...spanNameChange(name) }, "spans") }, nameText(name)), ` ${amount(total, this.unit)}`));

    return links.length > 0 ? [h("ul", { class: "row-list top-spans" }, ...links)] : [new Text("\u2013")];
  }

  private row(value: WireLabelValue, before: WireLabelValue | undefined, total: number, details: Map<string, Details>): HTMLElement {
    const name = value.value ?? "";
    const bar = h("span", { class: "share-bar" });
    const spans = h("td", {}), labels = h("td", {});

    bar.style.width = `${Math.max(0, Math.min(1, value.share)) * 100}%`;
    if (value.value !== null)
      details.set(name, { spans, labels });
    return h("tr", {},
      h("th", { scope: "row" }, h("a", { href: this.view.address({ query: withApplication("", name) }, "explore"), title: safeText(name, 1000) },
        name === "" ? "(no name)" : safeText(name, NAME_MAX)), value.value !== null && serviceLinks(this.view, name)),
      h("td", {}, amount(value.total, this.unit)),
      h("td", { class: "share" }, bar, h("span", {}, percent(total > 0 ? value.total / total : 0))),
      this.changeCell(changeOf(value, before)), spans, labels);
  }

  private changeCell({ text, isNoise }: ServiceChange): HTMLElement {
    return h("td", isNoise ? { class: "doubtful", title: "The profiles of each day differ among each other by as much" } : {}, text);
  }

  private table(rows: readonly HTMLElement[]): HTMLElement {
    const heads = ["Service", this.name, "Share", "Since yesterday", "Top spans", "Labels"].map((text) => h("th", { scope: "col" }, text));

    return h("div", { class: "table-scroll", role: "region", tabindex: "0", "aria-label": "Services" },
      h("table", { class: "values services" }, h("thead", {}, h("tr", {}, ...heads)), h("tbody", {}, ...rows)));
  }
}

/** Whether the range has profiles of several services. */
export async function hasSeveralServices(view: View): Promise<boolean> {
  const { type, from, until } = view.state.parameters;
  const { values } = await view.api.get<Values>("labels", { label: "service_name", type, from, until, limit: 2 }, view.signal);

  return values.length > 1;
}

export async function services(view: View): Promise<void> {
  const page = new Services(view);

  view.onRefresh(async () => { await page.load(); });
  await page.load();
}
