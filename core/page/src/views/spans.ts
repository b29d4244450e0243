/** The Spans view: span names with their values or, in the comparison mode, their changes;
 * and the spans with the most CPU time or duration. */
import type { WireSpan } from "../model/wire.ts";
import { BASELINES, baselineNamed, baselineRange } from "../model/baseline.ts";
import type { ProfileSelection } from "../model/choice.ts";
import { rangeChange } from "../model/range.ts";
import { h, replaceContent } from "../parts/dom.ts";
import { amount, count, moment } from "../parts/format.ts";
import { LatestRequest } from "../parts/latest.ts";
import { nameText } from "../spans/cells.ts";
import { changeKey, changedNamesTable } from "../spans/changed_names.ts";
import { whyEmpty } from "../spans/empty.ts";
import { toOtherView, measureOf, rangeIn, spanNameChange, spanNameQuery, type Measure } from "../spans/links.ts";
import { changedNames, perSpanChange } from "../spans/name_change.ts";
import { namesTable, sumsOf, type NameSums } from "../spans/names.ts";
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

/** The data of the view. */
interface Loaded {
  readonly selection: ProfileSelection;
  readonly names: Names;
  /** The baseline of the comparison mode. */
  readonly base: { readonly selection: ProfileSelection; readonly names: Names } | null;
}

async function loadedNames(view: View, selection: ProfileSelection, signal: AbortSignal): Promise<Loaded> {
  const namesOf = async (of: ProfileSelection): Promise<Names> => await view.api.get<Names>("spans", { ...of, limit: NAMES_MAX }, signal);
  const against = baselineNamed(view.state.parameters["against"]);
  const range = rangeIn(view.state);

  if (!against || !range)
    return { selection, names: await namesOf(selection), base: null };
  const now = { ...selection, ...rangeChange(range) }, base = { ...selection, ...rangeChange(baselineRange(range, against)) };
  const [names, baseNames] = await Promise.all([namesOf(now), namesOf(base)]);
  return { selection: now, names, base: { selection: base, names: baseNames } };
}

function againstSelect(view: View): HTMLElement {
  const against = baselineNamed(view.state.parameters["against"]);
  const select = h("select", { onchange: () => { view.go({ against: select.value, by: undefined }); } },
    ...[["", "nothing"] as const, ...BASELINES].map(([value, text]) => h("option", { value, selected: value === (against ?? "") }, text)));

  return h("label", {}, "Compare with ", select);
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
    const loaded = await loadedNames(view, selection, signal);

    if (loaded.names.count === 0 && !loaded.base?.names.count) {
      const reason = await emptyNotice(view, selection, loaded.names.rest, measure);
      signal.throwIfAborted();
      replaceContent(place, reason);
      return;
    }
    list ??= new SpanList(view, selection, measure, loaded);
    if (!list.element.isConnected)
      place.replaceChildren(list.element);
    await list.set(loaded);
  };

  view.onRefresh(load);
  view.element.append(h("div", { class: "tools-row" }, h("h1", {}, "Spans"), againstSelect(view)), place);
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

function rangeText({ from, until }: ProfileSelection): string {
  return `${moment(Number(from))} \u2013 ${moment(Number(until))}`;
}

/** The summary of the comparison mode, with a link to the Diff view of all names. */
function comparisonSummary(view: View, selection: ProfileSelection, names: Names, base: NonNullable<Loaded["base"]>, { unit, name }: Measure): Node[] {
  const inSpans = ({ spans: rows }: Names): string => amount(rows.reduce((sum, { total }) => sum + total, 0), unit);
  const { from, until } = selection;
  const limited = [names, base.names].some(({ spans: rows, count: all }) => all > rows.length);

  return [
    new Text(`${name} in spans: ${inSpans(base.names)} (baseline, ${rangeText(base.selection)}) \u2192 ${inSpans(names)} (${rangeText(selection)}). `
      + (base.names.count === 0 ? "The baseline has no spans. " : "")
      + (limited ? `Only the ${count(NAMES_MAX)} names with the most ${name} on each side are compared. ` : "")),
    h("a", { href: view.address(toOtherView({ from, until, leftFrom: base.selection.from, leftUntil: base.selection.until }), "comparison-diff") }, "Diff of all"),
  ];
}

/** The name that the view shows at first: the one with the largest change that is not
 * noise, else the one with the largest value. */
function firstName({ names, base }: Loaded): string | null {
  const changed = base ? changedNames(base.names.spans, names.spans) : [];
  const largest = changed.reduce<{ name: string | null; key: number }>((best, row) => {
    const key = changeKey(perSpanChange(row));
    return key > best.key ? { name: row.name, key } : best;
  }, { name: (names.spans[0] ?? changed[0])?.name ?? null, key: 0 });

  return largest.name;
}

type NamesPart = { readonly element: HTMLElement; readonly set: (loaded: Loaded) => void };

/** The table of names: their values or, in the comparison mode, their changes. */
function namesPart(view: View, measure: Measure, isComparing: boolean, selected: string | null, onChoose: (name: string | null) => void): NamesPart {
  if (isComparing) {
    const changed = changedNamesTable(view, measure, onChoose);
    changed.select(selected);
    return { element: changed.element, set: ({ names, base }) => { changed.set(changedNames(base?.names.spans ?? [], names.spans)); } };
  }
  const sums: NameSums = { whole: 0, most: 0 };
  const table = namesTable(view, measure, sums, onChoose);
  table.select(selected);
  return { element: table.element, set: ({ names }) => {
    Object.assign(sums, sumsOf(names.spans, names.rest));
    table.set(names.spans);
  } };
}

/** The table of names, and below it the flame graph of one: the selected name, else the
 * first one when the view was opened. The comparison mode shows the difference between
 * both ranges. */
class SpanList {
  readonly element: HTMLElement;
  private readonly names: NamesPart;
  private readonly stacks: StacksPlace;
  private readonly summary = h("p", { class: "summary" });
  private readonly heading = h("h2", { id: "of-name" });
  private readonly explore = h("a", {}, "Explore");
  private readonly lists = h("div", { class: "side-by-side" });
  private readonly listing: LatestRequest;
  private ranked: readonly Ranked[] = [];
  private name: string | null;

  constructor(private readonly view: View, private readonly selection: ProfileSelection, private readonly measure: Measure, private loaded: Loaded) {
    const chosen = chosenName(view);

    // Both ranges have the same length, so their values can be compared.
    this.stacks = new StacksPlace(view, undefined, loaded.base ? { scale: "values" } : {});
    this.listing = new LatestRequest(view.signal);
    this.name = chosen === undefined ? firstName(loaded) : chosen;
    this.names = namesPart(view, measure, loaded.base !== null, this.name, (name) => {
      view.updateAddress(spanNameChange(name));
      this.name = name;
      this.list(true);
      void this.load();
    });
    this.element = h("div", {}, this.summary, this.names.element,
      h("section", { "aria-labelledby": "of-name" }, h("div", { class: "tools-row" }, this.heading, this.explore), this.stacks.element), this.lists);
    this.list(chosen !== undefined);
  }

  async set(loaded: Loaded): Promise<void> {
    const { names, base, selection } = loaded;

    this.loaded = loaded;
    replaceContent(this.summary, ...base ? comparisonSummary(this.view, selection, names, base, this.measure) : [new Text(summary(names, this.measure))]);
    this.names.set(loaded);
    await this.load();
  }

  private selectionOfName(selection: ProfileSelection): ProfileSelection {
    return { ...selection, query: spanNameQuery(selection.query ?? "", this.name) };
  }

  private list(isChosen: boolean): void {
    const { view, measure } = this;
    const name = nameText(this.name);
    const signal = this.listing.next();
    const selection = isChosen ? this.selectionOfName(this.selection) : this.selection;

    this.heading.textContent = `${this.loaded.base ? `Change of ${measure.name}` : measure.name} of ${name}`;
    this.explore.href = view.address(toOtherView({ query: this.selectionOfName(this.selection).query }), "explore");
    this.ranked = [
      rankedSpans(view, signal, { selection, sort: "total", title: isChosen ? `${name}: most ${measure.name}` : `Spans with the most ${measure.name}`, measure }),
      rankedSpans(view, signal, { selection, sort: "duration", title: isChosen ? `${name}: slowest` : "Slowest spans", measure }),
    ];
    this.lists.replaceChildren(...this.ranked.map(({ element }) => element));
  }

  private async load(): Promise<void> {
    await Promise.all([this.loadStacks(), ...this.ranked.map((each) => each.load())]);
  }

  private async loadStacks(): Promise<void> {
    const { selection, base } = this.loaded;
    const title = `spans-${(this.name ?? "no-name").slice(0, 60)}`;

    if (base)
      await this.stacks.loadDifference(this.selectionOfName(base.selection), this.selectionOfName(selection), title);
    else
      await this.stacks.load(this.selectionOfName(selection), title);
  }
}
