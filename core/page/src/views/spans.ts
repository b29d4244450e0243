/** The Spans view: span names with their values, and the spans with the most CPU time or duration. */
import type { WireSpan } from "../model/wire.ts";
import type { ProfileSelection } from "../model/choice.ts";
import { h, replaceContent } from "../parts/dom.ts";
import { amount, count } from "../parts/format.ts";
import { LatestRequest } from "../parts/latest.ts";
import { nameText } from "../spans/cells.ts";
import { whyEmpty } from "../spans/empty.ts";
import { toOtherView, measureOf, spanNameChange, spanNameQuery, type Measure } from "../spans/links.ts";
import { namesTable, type NamesTable } from "../spans/names.ts";
import { rankedSpans, type Ranked } from "../spans/ranked.ts";
import { StacksPlace } from "../spans/stacks.ts";
import type { View } from "./view.ts";

const NAMES_MAX = 10_000;

interface Names {
  spans: WireSpan[];
  count: number;
  /** Value of samples outside of spans. */
  rest: number;
}

/** The selected name; null for spans without a name, undefined if none is selected. */
function chosenName(view: View): string | null | undefined {
  return view.state.parameters["noName"] ? null : view.state.parameters["spanName"];
}

export async function spans(view: View): Promise<void> {
  const { query, type, from, until } = view.state.parameters;
  const selection: ProfileSelection = { query, type, from, until };
  const measure = measureOf(view.state);
  const latest = new LatestRequest(view.signal);
  const place = h("div", {});
  let list: SpanList | null = null;
  const load = async (): Promise<void> => {
    const signal = latest.next();
    const answer = await view.api.get<Names>("spans", { ...selection, limit: NAMES_MAX }, signal);

    if (answer.count === 0) {
      const reason = await emptyNotice(view, selection, answer.rest, measure);
      signal.throwIfAborted();
      replaceContent(place, reason);
      return;
    }
    list ??= new SpanList(view, selection, measure, answer.spans[0]!.name);
    if (!list.element.isConnected)
      place.replaceChildren(list.element);
    await list.set(answer);
  };

  view.onRefresh(load);
  view.element.append(h("h1", {}, "Spans"), place);
  await load();
}

async function emptyNotice(view: View, selection: ProfileSelection, rest: number, measure: Measure): Promise<HTMLElement> {
  if (rest === 0)
    return await whyEmpty(view, selection);
  return h("div", { class: "notice empty", role: "status" },
    h("p", {}, `The profiles in this range (${amount(rest, measure.unit)}) have no samples in spans. `
      + "Add the profiler\u2019s span processor to the application\u2019s tracer to see spans here."),
    h("p", {}, h("a", { href: view.address(toOtherView({}), "explore") }, "Show these profiles in Explore")));
}

function summary({ spans: rows, count: all, rest }: Names, { unit, name }: Measure): string {
  const inSpans = rows.reduce((sum, { total }) => sum + total, 0);
  const ids = rows.reduce((sum, row) => sum + row.spans, 0);

  return `${count(ids)} spans with ${count(all)} name${all === 1 ? "" : "s"}: ${amount(inSpans, unit)} ${name} in spans, ${amount(rest, unit)} outside.`
    + (all > rows.length ? ` Only the ${count(rows.length)} names with the most ${name} are listed.` : "");
}

/** The table of names, and below it the flame graph of one: the selected name, else
 * the one with the largest value when the view was opened. */
class SpanList {
  readonly element: HTMLElement;
  private readonly names: NamesTable;
  private readonly stacks: StacksPlace;
  private readonly summary = h("p", { class: "summary" });
  private readonly heading = h("h2", { id: "of-name" });
  private readonly explore = h("a", {}, "Explore");
  private readonly lists = h("div", { class: "side-by-side" });
  private readonly listing: LatestRequest;
  private ranked: readonly Ranked[] = [];
  private name: string | null;

  constructor(private readonly view: View, private readonly selection: ProfileSelection, private readonly measure: Measure, largest: string | null) {
    const chosen = chosenName(view);

    this.stacks = new StacksPlace(view);
    this.listing = new LatestRequest(view.signal);
    this.name = chosen === undefined ? largest : chosen;
    this.names = namesTable(view, {
      measure, selectedName: this.name,
      onChoose: (name) => {
        view.updateAddress(spanNameChange(name));
        this.name = name;
        this.list(true);
        void this.load();
      },
    });
    this.element = h("div", {}, this.summary, this.names.element,
      h("section", { "aria-labelledby": "of-name" }, h("div", { class: "tools-row" }, this.heading, this.explore), this.stacks.element), this.lists);
    this.list(chosen !== undefined);
  }

  async set(answer: Names): Promise<void> {
    this.summary.textContent = summary(answer, this.measure);
    this.names.set(answer.spans, answer.rest);
    await this.load();
  }

  private nameSelection(): ProfileSelection {
    return { ...this.selection, query: spanNameQuery(this.selection.query ?? "", this.name) };
  }

  private list(isChosen: boolean): void {
    const { view, measure } = this;
    const name = nameText(this.name);
    const signal = this.listing.next();
    const selection = isChosen ? this.nameSelection() : this.selection;

    this.heading.textContent = `${measure.name} of ${name}`;
    this.explore.href = view.address(toOtherView({ query: this.nameSelection().query }), "explore");
    this.ranked = [
      rankedSpans(view, signal, { selection, sort: "total", title: isChosen ? `${name}: most ${measure.name}` : `Spans with the most ${measure.name}`, measure }),
      rankedSpans(view, signal, { selection, sort: "duration", title: isChosen ? `${name}: slowest` : "Slowest spans", measure }),
    ];
    this.lists.replaceChildren(...this.ranked.map(({ element }) => element));
  }

  private async load(): Promise<void> {
    await Promise.all([
      this.stacks.load(this.nameSelection(), `spans-${(this.name ?? "no-name").slice(0, 60)}`), ...this.ranked.map((each) => each.load()),
    ]);
  }
}
