/** What each value of a label costs, with a small flame graph of each. */
import type { View } from "./view.ts";
import { emptyReason } from "../explore/empty.ts";
import { drawMini } from "../labels/mini.ts";
import { ordered, readOrder, writeOrder, type Order } from "../labels/order.ts";
import { valueName, valueTable } from "../labels/table.ts";
import { typeOf, unitOf } from "../model/choice.ts";
import { treeOf } from "../model/tree.ts";
import type { WireLabelValue, WireTree } from "../model/wire.ts";
import { Problem, isLeft } from "../parts/api.ts";
import { amount, count, percent } from "../parts/format.ts";
import { h, shown } from "../parts/dom.ts";
import { applicationOf, withMatcher } from "../query/parse.ts";

const NAME_MAX = 60;
const PAGE = 50;
/** A card is drawn when it is this near to what is seen. */
const NEAR = "200px";

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
  private readonly table = h("div", {});
  private readonly cards = h("div", { class: "cards" });
  private readonly more = h("p", {});
  private readonly drawn = new IntersectionObserver((entries) => { this.seen(entries); }, { rootMargin: NEAR });
  private readonly waiting = new Map<Element, () => void>();
  private values: WireLabelValue[] = [];
  private after: string | null = null;
  private order: Order;

  constructor(private readonly view: View, private readonly label: string) {
    this.order = readOrder(view.state.parameters["order"]);
    view.signal.addEventListener("abort", () => { this.drawn.disconnect(); });
    view.element.append(this.table, this.cards, this.more);
  }

  async load(next = false): Promise<boolean> {
    const { query, type, from, until } = this.view.state.parameters;
    const answer = await this.view.api.get<LabelAnswer>("labels",
      { query, type, from, until, label: this.label, limit: PAGE, after: next ? this.after ?? undefined : undefined }, this.view.signal);

    this.values = next ? [...this.values, ...answer.values] : answer.values;
    this.after = answer.after;
    this.show();
    return this.values.length > 0;
  }

  private hrefOf({ value }: WireLabelValue): string {
    return this.view.address({ query: this.queryOf(value), label: undefined, order: undefined }, "explore");
  }

  private queryOf(value: string | null): string {
    return withMatcher(this.view.state.parameters["query"] ?? "", this.label, value ?? "");
  }

  private show(): void {
    const unit = unitOf(typeOf(this.view.state.parameters));
    const values = ordered(this.values, this.order);

    this.drawn.disconnect();
    this.waiting.clear();
    this.table.replaceChildren(valueTable(values, {
      label: this.label, unit, order: this.order, hrefOf: (value) => this.hrefOf(value),
      onOrder: (order) => {
        this.order = order;
        this.view.note({ order: writeOrder(order) });
        this.show();
        this.table.querySelector<HTMLElement>("[aria-sort]:not([aria-sort=none]) button")?.focus();
      },
    }));
    this.cards.replaceChildren(...values.map((value) => this.card(value, unit)));
    this.more.replaceChildren(...this.after === null ? [] : [h("button", { type: "button", onclick: () => { void this.next(); } }, "More values")]);
  }

  private async next(): Promise<void> {
    try {
      await this.load(true);
    } catch (error) {
      if (isLeft(error))
        return;
      if (!(error instanceof Problem))
        throw error;
      this.more.append(h("span", { class: "fault", role: "alert" }, " ", shown(error.message)));
    }
  }

  private card(value: WireLabelValue, unit: string): HTMLElement {
    const canvas = h("canvas", { class: "mini", "aria-hidden": "true" });
    const note = h("p", { class: "faint", role: "status" });
    const name = valueName(value.value);
    const card = h("a", { class: "card", href: this.hrefOf(value) },
      h("span", { class: "card-head" }, h("strong", {}, name), h("span", {}, `${amount(value.total, unit)} \u00b7 ${percent(value.share)}`)),
      h("span", { class: "faint" }, `${amount(value.average, unit)} a profile${value.profiles < 2 ? "" : ` \u00b1 ${amount(value.deviation, unit)}`}, ${count(value.profiles)} profile${value.profiles === 1 ? "" : "s"}`),
      canvas, note);

    this.waiting.set(card, () => { void this.draw(value, canvas, note); });
    this.drawn.observe(card);
    return card;
  }

  private seen(entries: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting)
        continue;
      this.drawn.unobserve(target);
      this.waiting.get(target)?.();
      this.waiting.delete(target);
    }
  }

  private async draw({ value }: WireLabelValue, canvas: HTMLCanvasElement, note: HTMLElement): Promise<void> {
    const { type, from, until } = this.view.state.parameters;
    const { signal } = this.view;

    try {
      const wire = await this.view.api.get<WireTree>("profile", { format: "tree", query: this.queryOf(value), type, from, until }, signal);
      drawMini(canvas, treeOf(wire), signal);
      canvas.dataset["drawn"] = String(wire.nodes.parent.length);
    } catch (error) {
      if (isLeft(error))
        return;
      if (!(error instanceof Problem))
        throw error;
      note.textContent = shown(error.message);
    }
  }
}

/** Which label, where none is asked for: applications if there are several, else
 * the one with most values. */
function chosenLabel(names: readonly LabelName[], query: string): string | undefined {
  if (applicationOf(query) === null && names.some(({ name }) => name === "service_name"))
    return "service_name";
  const most = names.reduce<LabelName | null>((best, each) => best === null || each.values > best.values ? each : best, null);
  return most?.name;
}

function labelLinks(view: View, names: readonly LabelName[], chosen: string): HTMLElement {
  return h("nav", { class: "label-names", "aria-label": "Labels" }, ...names.map(({ name, values }) => h("a", {
    href: view.address({ label: name }), ...(name === chosen ? { "aria-current": "true" } : {}),
  }, shown(name, NAME_MAX), " ", h("span", { class: "faint" }, count(values)))));
}

export async function labels(view: View): Promise<void> {
  const { query, type, from, until, label: asked } = view.state.parameters;
  const names = view.api.get<{ labels: LabelName[] }>("labels", { query, type, from, until }, view.signal);
  const show = async (label: string): Promise<void> => {
    const place = h("div", {});
    const of = new Labels({ ...view, element: place }, label);

    view.element.append(h("h1", {}, `By ${shown(label, NAME_MAX)}`), place);
    view.title(`by ${label}`);
    view.onRefresh(async () => { await of.load(); });
    const [has, { labels: all }] = await Promise.all([of.load(), names]);
    view.element.prepend(labelLinks(view, all.some(({ name }) => name === label) ? all : [{ name: label, values: 0 }, ...all], label));
    if (!has)
      place.replaceChildren(await emptyReason(view));
  };
  const label = asked ?? chosenLabel((await names).labels, query ?? "");

  if (label === undefined)
    view.element.append(await emptyReason(view));
  else
    await show(label);
}
