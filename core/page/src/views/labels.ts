/** The Labels view: the values of one label with their totals and small flame graphs. */
import type { View } from "./view.ts";
import { emptyReason } from "../explore/empty.ts";
import { Cards } from "../labels/cards.ts";
import { ordered, readOrder, writeOrder, type Order } from "../labels/order.ts";
import { ValueTable, valueName } from "../labels/table.ts";
import { typeOf, unitOf } from "../model/choice.ts";
import type { WireLabelValue } from "../model/wire.ts";
import { count } from "../parts/format.ts";
import { h, replaceContent, safeText } from "../parts/dom.ts";
import { filterBox, type Filter } from "../parts/filter.ts";
import { includeLinks } from "../query/include.ts";
import { Pair } from "../query/pair.ts";
import { ID_LABELS, applicationOf, withMatcher, withoutValue } from "../query/parse.ts";

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
  private readonly filter: Filter;
  private readonly pair: Pair;
  private answer: LabelAnswer = { total: 0, values: [], after: null };
  private order: Order;
  private shownCount = PAGE;

  constructor(private readonly view: View, private readonly label: string) {
    const unit = unitOf(typeOf(view.state.parameters));

    this.order = readOrder(view.state.parameters["order"]);
    this.filter = filterBox("values", view.state.parameters["filter"] ?? "", (filter) => {
      view.updateAddress({ filter });
      this.shownCount = PAGE;
      this.show();
    });
    this.pair = new Pair({ view, noun: "value", textOf: valueName, queryOf: (value) => this.queryOf(value), onChange: () => { this.show(); } });
    this.table = new ValueTable({
      label, unit, hrefOf: (value) => this.hrefOf(value),
      tick: ({ value }) => this.pair.checkbox(value), include: (value) => this.include(value),
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
      this.place.replaceChildren(h("div", { class: "tools-row" }, this.filter.element, this.pair.element), this.table.element, this.cards.note, this.cards.element, this.more);
    this.pair.setDefaults(twoLargest(answer.values));
    this.show();
  }

  /** Replaces only links that changed, since a screen reader would repeat them. */
  private updateLinks(names: readonly LabelName[]): void {
    const links = labelLinks(this.view, names, this.label);

    if (!this.links.firstChild?.isEqualNode(links))
      replaceContent(this.links, links);
  }

  private include({ value }: WireLabelValue): HTMLElement {
    return includeLinks(this.view, {
      label: this.label, text: valueName(value), only: this.queryOf(value),
      without: withoutValue(this.view.state.parameters["query"] ?? "", this.label, value ?? ""),
      diff: this.pair.diffLink(value),
    });
  }

  private hrefOf({ value }: WireLabelValue): string {
    return this.view.address({ query: this.queryOf(value), label: undefined, order: undefined, ticked: undefined, filter: undefined }, "explore");
  }

  private queryOf(value: string | null): string {
    return withMatcher(this.view.state.parameters["query"] ?? "", this.label, value ?? "");
  }

  private show(): void {
    const found = this.filter.apply(this.answer.values, ({ value }) => valueName(value));
    const values = ordered(found, this.order).slice(0, this.shownCount);

    this.table.show(values, this.order);
    this.cards.show(values);
    this.showMore(found.length - values.length);
  }

  private showMore(left: number): void {
    const most = this.answer.after === null ? "" : ` Only the ${count(VALUES_MAX)} values with the largest totals are listed.`;

    replaceContent(this.more, ...left > 0 ? [h("button", {
      type: "button", onclick: () => {
        this.shownCount += PAGE;
        this.show();
      },
    }, "More values"), new Text(` ${count(left)} not shown.`)] : [], new Text(most));
  }
}

/** The two largest values, the largest one last. */
function twoLargest(values: readonly WireLabelValue[]): (string | null)[] {
  return values.length < 2 ? [] : [values[1]!.value, values[0]!.value];
}

/** Labels with more values, such as pods, are rarely compared. */
const COMPARED_MAX = 20;

/** The default label: the application unless the query selects one; else the label with
 * the most values, but at most COMPARED_MAX if there is one. Span names and ids have
 * views of their own. */
function chosenLabel(names: readonly LabelName[], query: string): string | undefined {
  if (applicationOf(query) === null && names.some(({ name }) => name === "service_name"))
    return "service_name";
  const own = names.filter(({ name }) => name !== "span_name" && !ID_LABELS.includes(name));
  const compared = own.filter(({ values }) => values > 1 && values <= COMPARED_MAX);
  const candidates = compared.length > 0 ? compared : own.length > 0 ? own : names;
  const most = candidates.reduce<LabelName | null>((best, each) => best === null || each.values > best.values ? each : best, null);
  return most?.name;
}

function labelLinks(view: View, names: readonly LabelName[], chosen: string): HTMLElement {
  return h("nav", { class: "label-names", "aria-label": "Labels" }, ...names.map(({ name, values }) => h("a", {
    href: view.address({ label: name, ticked: undefined, filter: undefined }), ...(name === chosen ? { "aria-current": "true" } : {}),
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
