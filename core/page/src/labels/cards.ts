/** A card for each value of a label, with a small timeline and a small flame graph. They
 * are loaded when the card is almost visible. Sorting and refreshing reuse the cards and
 * their graphs. All timelines have the same scale. All flame graphs begin at the last
 * frame that they have in common. */
import type { WireLabelValue, WireTree } from "../model/wire.ts";
import { treeOf, type Tree } from "../model/tree.ts";
import { Problem, isAborted } from "../parts/api.ts";
import { amount, count, percent } from "../parts/format.ts";
import { h, replaceContent, safeText } from "../parts/dom.ts";
import { pointsOf, summary, type Points, type WireSeries } from "../timeline/series.ts";
import type { View } from "../views/view.ts";
import { drawMini } from "./mini.ts";
import { drawSpark, mostOf } from "./spark.ts";
import { valueName } from "./table.ts";
import { commonTrunk, hasCommon, trunkOf, type Trunk } from "./trunk.ts";

/** Distance from the visible part at which a card's graph is loaded. */
const NEAR = "200px";
const NAME_MAX = 80;
/** Smaller values, such as the samples outside of spans, may have other frames at their
 * root. */
const SHARE_MIN = 0.02;

export interface CardsOptions {
  view: View;
  unit: string;
  hrefOf: (value: WireLabelValue) => string;
  queryOf: (value: string | null) => string;
}

interface Card {
  readonly element: HTMLElement;
  readonly facts: HTMLElement;
  readonly spark: HTMLCanvasElement;
  /** The description of the timeline for screen readers. */
  readonly course: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  readonly note: HTMLElement;
  readonly value: string | null;
  /** Identifies the data of the graphs that are drawn, or will be when the card is visible. */
  stamp: string;
  share: number;
  graphs: Graphs | null;
}

/** The loaded data of a card. */
interface Graphs {
  readonly tree: Tree;
  readonly trunk: Trunk;
  readonly points: Points;
}

/** Keeps an unchanged text, so that a screen reader does not repeat it. */
function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text)
    element.textContent = text;
}

export class Cards {
  readonly element = h("div", { class: "cards" });
  /** Names the frames that the flame graphs have in common. */
  readonly note = h("p", { class: "faint cards-note", role: "status" });
  private readonly near = new IntersectionObserver((entries) => { this.onVisible(entries); }, { rootMargin: NEAR });
  private readonly cards = new Map<string | null, Card>();
  private readonly byElement = new Map<Element, Card>();
  private readonly resized = new ResizeObserver((entries) => {
    for (const { target } of entries)
      this.draw(this.byElement.get(target.parentElement!));
  });
  /** The frames that the flame graphs have in common. */
  private common = commonTrunk([]);
  /** The largest value of the timelines. */
  private most = 0;

  constructor(private readonly of: CardsOptions) {
    const { signal } = of.view;

    addEventListener("themechange", () => { this.drawAll(); }, { signal });
    signal.addEventListener("abort", () => {
      this.near.disconnect();
      this.resized.disconnect();
    });
  }

  /** Shows exactly these values, in this order. */
  show(values: readonly WireLabelValue[]): void {
    const present = new Set(values.map(({ value }) => value));

    for (const card of [...this.cards.values()])
      if (!present.has(card.value))
        this.drop(card);
    this.align();
    const elements = values.map((value) => this.card(value).element);
    if (elements.length !== this.element.children.length || elements.some((each, index) => this.element.children[index] !== each))
      replaceContent(this.element, ...elements);
  }

  private drop(card: Card): void {
    this.near.unobserve(card.element);
    this.resized.unobserve(card.canvas);
    this.cards.delete(card.value);
    this.byElement.delete(card.element);
  }

  private card(value: WireLabelValue): Card {
    const card = this.cards.get(value.value) ?? this.createCard(value);
    const { unit } = this.of;
    // The stamp changes with the data, since new profiles almost always change these
    // numbers.
    const stamp = `${value.total} ${value.profiles}`;

    card.share = value.share;
    card.facts.replaceChildren(
      h("span", { class: "card-head" }, h("strong", {}, valueName(value.value)), h("span", {}, `${amount(value.total, unit)} \u00b7 ${percent(value.share)}`)),
      h("span", { class: "faint" }, `${amount(value.average, unit)} per profile${value.profiles < 2 ? "" : ` \u00b1 ${amount(value.deviation, unit)}`}, ${count(value.profiles)} profile${value.profiles === 1 ? "" : "s"}`));
    if (card.stamp !== stamp) {
      card.stamp = stamp;
      // Observe the card again, since the observer reports an element only once while
      // it stays visible.
      this.near.unobserve(card.element);
      this.near.observe(card.element);
    }
    return card;
  }

  private createCard(value: WireLabelValue): Card {
    const canvas = h("canvas", { class: "mini", "aria-hidden": "true" });
    const spark = h("canvas", { class: "spark", "aria-hidden": "true" });
    const course = h("span", { class: "sr" });
    const note = h("p", { class: "faint", role: "status" });
    const facts = h("span", { class: "card-facts" });
    const card: Card = {
      element: h("a", { class: "card", href: this.of.hrefOf(value) }, facts, spark, course, canvas, note),
      facts, spark, course, canvas, note, value: value.value, stamp: "", share: 0, graphs: null,
    };

    this.cards.set(value.value, card);
    this.byElement.set(card.element, card);
    this.resized.observe(canvas);
    return card;
  }

  private onVisible(entries: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of entries) {
      const card = this.byElement.get(target);
      if (!isIntersecting || !card)
        continue;
      this.near.unobserve(target);
      void this.load(card);
    }
  }

  private async load(card: Card): Promise<void> {
    const { view, queryOf } = this.of;
    const { type, from, until } = view.state.parameters;
    const selection = { query: queryOf(card.value), type, from, until };

    try {
      const [wire, series] = await Promise.all([
        view.api.get<WireTree>("profile", { format: "tree", ...selection }, view.signal), view.api.get<WireSeries>("series", selection, view.signal),
      ]);
      if (view.signal.aborted || this.cards.get(card.value) !== card)
        return;
      const tree = treeOf(wire);
      card.graphs = { tree, trunk: trunkOf(tree), points: pointsOf(series) };
      card.course.textContent = summary(card.graphs.points);
      this.align();
      this.draw(card);
      card.canvas.dataset["drawn"] = String(wire.nodes.parent.length);
    } catch (error) {
      if (isAborted(error))
        return;
      if (!(error instanceof Problem))
        throw error;
      card.note.textContent = safeText(error.message);
    }
  }

  /** Aligns all graphs with each other after a change of one, and draws them again if
   * their common frames or their scale changed. */
  private align(): void {
    const loaded = [...this.cards.values()].filter(({ graphs }) => graphs !== null);
    const large = loaded.filter(({ share }) => share >= SHARE_MIN);
    const common = commonTrunk((large.length > 0 ? large : loaded).map(({ graphs }) => graphs!.trunk));
    const most = loaded.reduce((max, { graphs }) => Math.max(max, mostOf(graphs!.points)), 0);
    const isOther = common.keys.join() !== this.common.keys.join() || most !== this.most;

    this.common = common;
    this.most = most;
    this.showCommon(loaded.map(({ graphs }) => graphs!.trunk));
    if (isOther)
      this.drawAll();
  }

  /** The last common frame is drawn, so the frames above it are skipped. */
  private showCommon(trunks: readonly Trunk[]): void {
    const { keys, names } = this.common;
    const skipped = keys.length - 1;
    const least = trunks.filter((trunk) => hasCommon(trunk, keys)).reduce((share, { shares }) => Math.min(share, shares[skipped] ?? 1), 1);
    const text = skipped < 1 ? "" : `Flame graphs begin at ${safeText(names[skipped]!, NAME_MAX)}: ${count(skipped)} common frame${skipped === 1 ? " is" : "s are"} skipped.`
      + (least < 0.9995 ? ` Up to ${percent(1 - least)} of a value is outside of it.` : "");

    setText(this.note, text);
    this.note.title = skipped < 1 ? "" : names.map((name) => safeText(name, NAME_MAX)).join("\n");
  }

  private drawAll(): void {
    for (const card of this.cards.values())
      this.draw(card);
  }

  private draw(card: Card | undefined): void {
    if (!card?.graphs || card.canvas.clientWidth === 0)
      return;
    const { tree, trunk, points } = card.graphs;
    const { keys } = this.common;
    const isCommon = hasCommon(trunk, keys);
    drawMini(card.canvas, tree, isCommon ? trunk.nodes[keys.length - 1] ?? 0 : 0);
    drawSpark(card.spark, points, this.most);
    setText(card.note, isCommon ? "" : "This flame graph has other frames and begins at its root.");
  }
}
