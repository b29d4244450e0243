/** The Spans view: span names with their values, and the spans with the most CPU time or duration. */
import type { WireSpan } from "../model/wire.ts";
import { h, renew } from "../parts/dom.ts";
import { amount, count } from "../parts/format.ts";
import { Latest } from "../parts/latest.ts";
import { nameText } from "../spans/cells.ts";
import { whyEmpty, type Asked } from "../spans/empty.ts";
import { elsewhere, measureOf, spanNameChange, spanNameQuery, type Measure } from "../spans/links.ts";
import { namesTable, type NamesTable } from "../spans/names.ts";
import { rankedSpans, type Ranked } from "../spans/ranked.ts";
import { StacksPlace } from "../spans/stacks.ts";
import type { View } from "./view.ts";

const NAMES_MAX = 10_000;

interface Names {
  spans: WireSpan[];
  count: number;
  rest: number;
}

/** The selected name; null for spans without a name, undefined if none is selected. */
function chosenName(view: View): string | null | undefined {
  return view.state.parameters["noName"] ? null : view.state.parameters["spanName"];
}

export async function spans(view: View): Promise<void> {
  const { query, type, from, until } = view.state.parameters;
  const asked: Asked = { query, type, from, until };
  const measure = measureOf(view.state);
  const asking = new Latest(view.signal);
  const place = h("div", {});
  let listed: Listed | null = null;
  const load = async (): Promise<void> => {
    const signal = asking.next();
    const answer = await view.api.get<Names>("spans", { ...asked, limit: NAMES_MAX }, signal);

    if (answer.count === 0) {
      const why = await withoutSpans(view, asked, answer.rest, measure);
      signal.throwIfAborted();
      renew(place, why);
      return;
    }
    listed ??= new Listed(view, asked, measure, answer.spans[0]!.name);
    if (!listed.element.isConnected)
      place.replaceChildren(listed.element);
    await listed.set(answer);
  };

  view.onRefresh(load);
  view.element.append(h("h1", {}, "Spans"), place);
  await load();
}

async function withoutSpans(view: View, asked: Asked, rest: number, measure: Measure): Promise<HTMLElement> {
  if (rest === 0)
    return await whyEmpty(view, asked);
  return h("div", { class: "notice empty", role: "status" },
    h("p", {}, `The profiles in this range (${amount(rest, measure.unit)}) have no samples in spans. `
      + "Add the profiler\u2019s span processor to the application\u2019s tracer to see spans here."),
    h("p", {}, h("a", { href: view.address(elsewhere({}), "explore") }, "Show these profiles in Explore")));
}

function summary({ spans: rows, count: all, rest }: Names, { unit, name }: Measure): string {
  const inSpans = rows.reduce((sum, { total }) => sum + total, 0);
  const ids = rows.reduce((sum, row) => sum + row.spans, 0);

  return `${count(ids)} spans with ${count(all)} names: ${amount(inSpans, unit)} ${name} in spans, ${amount(rest, unit)} outside.`
    + (all > rows.length ? ` Only the ${count(rows.length)} names with the most ${name} are listed.` : "");
}

/** The table of names, and below it the flame graph of one: the selected name, else
 * the one with the largest value when the view was opened. */
class Listed {
  readonly element: HTMLElement;
  private readonly names: NamesTable;
  private readonly stacks: StacksPlace;
  private readonly summary = h("p", { class: "summary" });
  private readonly heading = h("h2", { id: "of-name" });
  private readonly lists = h("div", { class: "side-by-side" });
  private readonly listing: Latest;
  private ranked: readonly Ranked[] = [];
  private name: string | null;

  constructor(private readonly view: View, private readonly asked: Asked, private readonly measure: Measure, dearest: string | null) {
    const chosen = chosenName(view);

    this.stacks = new StacksPlace(view);
    this.listing = new Latest(view.signal);
    this.name = chosen === undefined ? dearest : chosen;
    this.names = namesTable(view, {
      measure, chosen: this.name,
      onChoose: (name) => {
        view.note(spanNameChange(name));
        this.name = name;
        this.list(true);
        void this.load();
      },
    });
    this.element = h("div", {}, this.summary, this.names.element,
      h("section", { "aria-labelledby": "of-name" }, this.heading, this.stacks.element), this.lists);
    this.list(chosen !== undefined);
  }

  async set(answer: Names): Promise<void> {
    this.summary.textContent = summary(answer, this.measure);
    this.names.set(answer.spans, answer.rest);
    await this.load();
  }

  private ofName(): Asked {
    return { ...this.asked, query: spanNameQuery(this.asked.query ?? "", this.name) };
  }

  private list(isChosen: boolean): void {
    const { view, measure } = this;
    const name = nameText(this.name);
    const signal = this.listing.next();
    const asked = isChosen ? this.ofName() : this.asked;

    this.heading.textContent = `${measure.name} of ${name}`;
    this.ranked = [
      rankedSpans(view, signal, { asked, sort: "total", title: isChosen ? `${name}: most ${measure.name}` : `Spans with the most ${measure.name}`, measure }),
      rankedSpans(view, signal, { asked, sort: "duration", title: isChosen ? `${name}: slowest` : "Slowest spans", measure }),
    ];
    this.lists.replaceChildren(...this.ranked.map(({ element }) => element));
  }

  private async load(): Promise<void> {
    await Promise.all([
      this.stacks.ask(this.ofName(), `spans-${(this.name ?? "no-name").slice(0, 60)}`), ...this.ranked.map((each) => each.load()),
    ]);
  }
}
