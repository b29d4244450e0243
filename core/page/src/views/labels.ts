/** The Labels view: the values of one label with their totals and small flame graphs. */
import type { View } from "./view.ts";
import { emptyReason } from "../explore/empty.ts";
import { Cards } from "../labels/cards.ts";
import { ordered, readOrder, writeOrder, type Order } from "../labels/order.ts";
import { ValueTable } from "../labels/table.ts";
import { typeOf, unitOf } from "../model/choice.ts";
import type { WireLabelValue } from "../model/wire.ts";
import { count } from "../parts/format.ts";
import { h, replaceContent, safeText } from "../parts/dom.ts";
import { applicationOf, withMatcher } from "../query/parse.ts";

const NAME_MAX = 60;
/** Number of values that "More values" adds. */
const PAGE = 50;
/** The largest number of values that the server returns. It omits the smallest ones. */
const VALUES_MAX = 10_000;

interface LabelName {
  name: string;
  values: number;
}

interface LabelAnswer {
  total: number;
  values: WireLabelValue[];
  after: string | null;
}

class Labels {
  private readonly links = h("div", {});
  private readonly place = h("div", {});
  private readonly table: ValueTable;
  private readonly cards: Cards;
  private readonly more = h("p", {});
  private answer: LabelAnswer = { total: 0, values: [], after: null };
  private order: Order;
  private shownCount = PAGE;

  constructor(private readonly view: View, private readonly label: string) {
    const unit = unitOf(typeOf(view.state.parameters));

    this.order = readOrder(view.state.parameters["order"]);
    this.table = new ValueTable({
      label, unit, hrefOf: (value) => this.hrefOf(value),
      onOrder: (order) => {
        this.order = order;
        this.view.updateAddress({ order: writeOrder(order) });
        this.show();
      },
    });
    this.cards = new Cards({ view, unit, hrefOf: (value) => this.hrefOf(value), queryOf: (value) => this.queryOf(value) });
    view.element.append(this.links, h("h1", {}, `By ${safeText(label, NAME_MAX)}`), this.place);
  }

  /** Loads all values at once, since the table sorts all of them. */
  async load(names: Promise<readonly LabelName[]>): Promise<void> {
    const { query, type, from, until } = this.view.state.parameters;
    const [answer, all] = await Promise.all([
      this.view.api.get<LabelAnswer>("labels", { query, type, from, until, label: this.label, limit: VALUES_MAX }, this.view.signal), names]);

    this.answer = answer;
    this.updateLinks(all.some(({ name }) => name === this.label) ? all : [{ name: this.label, values: 0 }, ...all]);
    if (answer.values.length === 0) {
      this.cards.show([]);
      this.place.replaceChildren(await emptyReason(this.view));
      return;
    }
    if (!this.table.element.isConnected)
      this.place.replaceChildren(this.table.element, this.cards.element, this.more);
    this.show();
  }

  /** Replaces only links that changed, since a screen reader would repeat them. */
  private updateLinks(names: readonly LabelName[]): void {
    const links = labelLinks(this.view, names, this.label);

    if (!this.links.firstChild?.isEqualNode(links))
      replaceContent(this.links, links);
  }

  private hrefOf({ value }: WireLabelValue): string {
    return this.view.address({ query: this.queryOf(value), label: undefined, order: undefined }, "explore");
  }

  private queryOf(value: string | null): string {
    return withMatcher(this.view.state.parameters["query"] ?? "", this.label, value ?? "");
  }

  private show(): void {
    const values = ordered(this.answer.values, this.order).slice(0, this.shownCount);

    this.table.show(values, this.order);
    this.cards.show(values);
    this.showMore();
  }

  private showMore(): void {
    const { values, after } = this.answer;
    const left = values.length - this.shownCount;
    const most = after === null ? "" : ` Only the ${count(VALUES_MAX)} largest values are listed.`;

    replaceContent(this.more, ...left > 0 ? [h("button", {
      type: "button", onclick: () => {
        this.shownCount += PAGE;
        this.show();
      },
    }, "More values"), new Text(` ${count(left)} not shown.`)] : [], new Text(most));
  }
}

/** The default label: the application unless the query selects one, else the label
 * with the most values. */
function chosenLabel(names: readonly LabelName[], query: string): string | undefined {
  if (applicationOf(query) === null && names.some(({ name }) => name === "service_name"))
    return "service_name";
  const most = names.reduce<LabelName | null>((best, each) => best === null || each.values > best.values ? each : best, null);
  return most?.name;
}

function labelLinks(view: View, names: readonly LabelName[], chosen: string): HTMLElement {
  return h("nav", { class: "label-names", "aria-label": "Labels" }, ...names.map(({ name, values }) => h("a", {
    href: view.address({ label: name }), ...(name === chosen ? { "aria-current": "true" } : {}),
  }, safeText(name, NAME_MAX), " ", h("span", { class: "faint" }, count(values)))));
}

export async function labels(view: View): Promise<void> {
  const { query, type, from, until, label: selected } = view.state.parameters;
  const names = async (): Promise<readonly LabelName[]> =>
    (await view.api.get<{ labels: LabelName[] }>("labels", { query, type, from, until }, view.signal)).labels;
  const all = names();
  const label = selected ?? chosenLabel(await all, query ?? "");

  if (label === undefined) {
    view.element.append(await emptyReason(view));
    return;
  }
  const page = new Labels(view, label);
  view.title(`by ${label}`);
  view.onRefresh(async () => { await page.load(names()); });
  await page.load(all);
}
