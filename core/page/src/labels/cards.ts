/** A card for each value of a label, with a small flame graph, which is loaded when the
 * card is almost visible. Sorting and refreshing reuse the cards and their graphs. */
import type { WireLabelValue, WireTree } from "../model/wire.ts";
import { treeOf } from "../model/tree.ts";
import { Problem, isAborted } from "../parts/api.ts";
import { amount, count, percent } from "../parts/format.ts";
import { h, replaceContent, safeText } from "../parts/dom.ts";
import type { View } from "../views/view.ts";
import { drawMini } from "./mini.ts";
import { valueName } from "./table.ts";

/** Distance from the visible part at which a card's graph is loaded. */
const NEAR = "200px";

export interface CardsOptions {
  view: View;
  unit: string;
  hrefOf: (value: WireLabelValue) => string;
  queryOf: (value: string | null) => string;
}

interface Card {
  readonly element: HTMLElement;
  readonly facts: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  readonly note: HTMLElement;
  readonly value: string | null;
  /** Identifies the data of the graph that is drawn, or will be when the card is visible. */
  stamp: string;
  /** Aborts the drawing. */
  abort: AbortController;
}

export class Cards {
  readonly element = h("div", { class: "cards" });
  private readonly near = new IntersectionObserver((entries) => { this.onVisible(entries); }, { rootMargin: NEAR });
  private readonly cards = new Map<string | null, Card>();
  private readonly byElement = new Map<Element, Card>();

  constructor(private readonly of: CardsOptions) {
    of.view.signal.addEventListener("abort", () => {
      this.near.disconnect();
      for (const { abort: leaving } of this.cards.values())
        leaving.abort();
    });
  }

  /** Shows exactly these values, in this order. */
  show(values: readonly WireLabelValue[]): void {
    const present = new Set(values.map(({ value }) => value));

    for (const card of [...this.cards.values()])
      if (!present.has(card.value))
        this.drop(card);
    const elements = values.map((value) => this.card(value).element);
    if (elements.length !== this.element.children.length || elements.some((each, index) => this.element.children[index] !== each))
      replaceContent(this.element, ...elements);
  }

  private drop(card: Card): void {
    card.abort.abort();
    this.near.unobserve(card.element);
    this.cards.delete(card.value);
    this.byElement.delete(card.element);
  }

  private card(value: WireLabelValue): Card {
    const card = this.cards.get(value.value) ?? this.createCard(value);
    const { unit } = this.of;
    // The stamp changes with the data, since new profiles almost always change these
    // numbers.
    const stamp = `${value.total} ${value.profiles}`;

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
    const note = h("p", { class: "faint", role: "status" });
    const facts = h("span", { class: "card-facts" });
    const card: Card = {
      element: h("a", { class: "card", href: this.of.hrefOf(value) }, facts, canvas, note),
      facts, canvas, note, value: value.value, stamp: "", abort: new AbortController(),
    };

    this.cards.set(value.value, card);
    this.byElement.set(card.element, card);
    return card;
  }

  private onVisible(entries: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of entries) {
      const card = this.byElement.get(target);
      if (!isIntersecting || !card)
        continue;
      this.near.unobserve(target);
      void this.draw(card);
    }
  }

  private async draw(card: Card): Promise<void> {
    const { view, queryOf } = this.of;
    const { type, from, until } = view.state.parameters;
    const leaving = new AbortController();

    try {
      const wire = await view.api.get<WireTree>("profile", { format: "tree", query: queryOf(card.value), type, from, until }, view.signal);
      if (view.signal.aborted || this.cards.get(card.value) !== card)
        return;
      card.abort.abort();
      card.abort = leaving;
      card.note.textContent = "";
      drawMini(card.canvas, treeOf(wire), leaving.signal);
      card.canvas.dataset["drawn"] = String(wire.nodes.parent.length);
    } catch (error) {
      if (isAborted(error))
        return;
      if (!(error instanceof Problem))
        throw error;
      card.note.textContent = safeText(error.message);
    }
  }
}
