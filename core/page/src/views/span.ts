/** The Span view: a span's flame graph, its baseline (spans of the same service and
 * name), their difference, and the data from its trace. */
import { originOfPair } from "../export/origin.ts";
import { treeOfDiff } from "../model/tree.ts";
import type { WireDiff, WireSpan } from "../model/wire.ts";
import type { DisplayOptions } from "../flame/panel.ts";
import { h, replaceContent, safeText } from "../parts/dom.ts";
import { amount, count, moment, percent } from "../parts/format.ts";
import { LatestRequest } from "../parts/latest.ts";
import { includeLinks } from "../query/include.ts";
import { withMatcher, withoutValue } from "../query/parse.ts";
import { loadPart } from "../shell/errors.ts";
import { fewSamples, idText, nameText } from "../spans/cells.ts";
import { baselineOf, findSpan, type Baseline, type FoundSpan } from "../spans/found.ts";
import { measureOf, spanIdOf, spanNameQuery, spanQuery, toOtherView, withoutIds, withoutSpanName, type Measure } from "../spans/links.ts";
import { StacksPlace } from "../spans/stacks.ts";
import { tabs, type Tabs } from "../spans/tabs.ts";
import { attributeTables, facts, traceFacts } from "../trace/details.ts";
import type { View } from "./view.ts";

const ID = /^[0-9a-f]{16}$/;

export async function span(view: View): Promise<void> {
  const id = (view.state.parameters["span"] ?? spanIdOf(view.state.parameters["query"] ?? "") ?? "").toLowerCase();

  if (!ID.test(id)) {
    view.element.append(h("h1", {}, "Span"), h("p", { class: "notice", role: "status" }, id === ""
      ? "No span selected. Choose one in Spans or in a trace, or follow the link in a span\u2019s pyroscope.profile.url attribute."
      : `\u201c${safeText(id, 60)}\u201d is not a span id (16 hexadecimal digits).`),
    h("p", {}, h("a", { href: view.address(toOtherView({}), "spans") }, "All spans")));
    return;
  }
  await findAndShow(view, id);
}

async function findAndShow(view: View, id: string): Promise<void> {
  const measure = measureOf(view.state);
  const head = h("div", {}), aside = h("aside", { "aria-label": "Trace details" });
  let found = await findSpan(view, id);
  const graphs = stacks(view, () => found, measure);
  const show = (): void => {
    replaceContent(head, heading(view, found), cost(found, measure));
    replaceContent(aside, ...traceSection(view, found));
  };

  show();
  view.element.append(head, h("div", { class: "span-page" }, graphs.element, aside));
  view.onRefresh(async () => {
    const before = displayedData(found);

    found = await findSpan(view, id);
    // Keep unchanged text, so that a screen reader does not repeat it.
    if (displayedData(found) !== before)
      show();
    graphs.refresh();
  });
}

/** Returns the displayed data as text, to detect changes. The text excludes the range,
 * which moves with the clock. */
function displayedData({ row, traced, traceId }: FoundSpan): string {
  return JSON.stringify([row, traced, traceId]);
}

function heading(view: View, found: FoundSpan): HTMLElement {
  const query = withoutIds(view.state.parameters["query"] ?? "");
  const to = { view: "spans", change: toOtherView({}) } as const;
  const ofName = includeLinks(view, {
    label: "span name", text: nameText(found.name), only: spanNameQuery(query, found.name), without: withoutSpanName(query, found.name), to,
  });
  const ofService = found.service === null ? null : includeLinks(view, {
    label: "service", text: found.service, only: withMatcher(query, "service_name", found.service), without: withoutValue(query, "service_name", found.service), to,
  });

  return h("header", { class: "span-head" }, h("div", { class: "tools-row" }, h("h1", {}, found.name === null ? "Unnamed span" : nameText(found.name)), ofName),
    h("p", { class: "faint" }, found.service === null ? "" : safeText(found.service, 100), ofService, ofService && " ", "span ", idText(found.id)),
    h("p", { class: "links" },
      found.traced && h("a", { href: view.address(toOtherView({ trace: found.traceId ?? undefined, span: found.id }), "trace") }, "Show trace"),
      h("a", { href: view.address(toOtherView({ query: spanQuery(view.state.parameters["query"] ?? "", found.id) }), "explore") }, "Explore"),
      h("a", { href: view.address(toOtherView(comparisonOf(view, found)), "comparison") }, "Compare with baseline")));
}

function comparisonOf(view: View, found: FoundSpan): Record<string, string | undefined> {
  const baseline = baselineOf(view, found);
  const service = found.service === null ? "" : withMatcher("", "service_name", found.service);

  return {
    leftQuery: baseline.query, leftFrom: baseline.from, leftUntil: baseline.until,
    rightQuery: spanQuery(service, found.id), rightFrom: found.selection.from, rightUntil: found.selection.until,
  };
}

function cost(found: FoundSpan, { unit, name }: Measure): HTMLElement {
  const total = found.row?.total ?? 0, samples = found.row?.samples ?? 0;
  const durationNs = found.traced?.durationNs ?? found.row?.durationNs;
  const numbers = facts([
    [name, h("strong", {}, amount(total, unit))],
    ["Samples", h("span", {}, count(samples), " ", samples > 0 && fewSamples(samples))],
    ["Duration", durationNs === undefined ? "unknown (no trace)" : amount(durationNs, "nanoseconds")],
    ...durationNs && unit === "nanoseconds" ? [[`${name} / duration`, percent(total / durationNs)] as const] : [],
  ]);

  numbers.classList.add("figures");
  return numbers;
}

/** Tabs with the flame graphs of the span, of its baseline and of their difference.
 * They share their display options, which are in the address. */
function stacks(view: View, found: () => FoundSpan, measure: Measure): Tabs {
  const place = (): StacksPlace => {
    const made: StacksPlace = new StacksPlace(view, (change: DisplayOptions) => {
      view.updateAddress(change);
      for (const other of places)
        if (other !== made)
          other.setDisplay(change);
    });
    return made;
  };
  const spanStacks = place(), base = place(), both = place();
  const places = [spanStacks, base, both];
  const figures = new LatestRequest(view.signal), differing = new LatestRequest(view.signal);
  const baselineNote = h("p", { class: "faint" });
  const differenceNote = h("p", { class: "faint", role: "status" });

  return tabs(view, "of", "Flame graph", [
    { id: "span", title: "This span", element: spanStacks.element, open: () => {
      void spanStacks.load(found().selection, `span-${found().id}`);
    } },
    { id: "baseline", title: "Baseline", element: h("div", {}, baselineNote, base.element), open: () => {
      const baseline = baselineOf(view, found());
      const signal = figures.next();

      baselineNote.textContent ||= baselineText(baseline);
      void base.load(baseline, `baseline-${found().id}`);
      void loadPart(view, signal, async () => {
        baselineNote.textContent = await baselineFigures(view, baseline, measure, signal);
      }, (fault) => { baselineNote.textContent = fault.textContent; });
    } },
    { id: "difference", title: "Difference", element: h("div", {}, differenceNote, both.element), open: () => {
      const signal = differing.next();

      void loadPart(view, signal, async () => { await difference(view, found(), both, differenceNote, signal); }, (fault) => { both.showInstead(fault); });
    } },
  ]);
}

function baselineText({ description, from, until }: Baseline): string {
  return `Baseline: ${description}, ${moment(Number(from))} \u2013 ${moment(Number(until))}.`;
}

async function baselineFigures(view: View, baseline: Baseline, { unit, name }: Measure, signal: AbortSignal): Promise<string> {
  const { query, type, from, until } = baseline;
  const { spans } = await view.api.get<{ spans: WireSpan[] }>("spans", { query, type, from, until }, signal);
  const all = spans.reduce((sum, each) => ({ total: sum.total + each.total, spans: sum.spans + each.spans, samples: sum.samples + each.samples }),
    { total: 0, spans: 0, samples: 0 });
  const each = all.spans ? `, ${amount(all.total / all.spans, unit)} ${name} per span` : "";

  return `${baselineText(baseline)} ${count(all.spans)} ${all.spans === 1 ? "span" : "spans"} with ${count(all.samples)} ${all.samples === 1 ? "sample" : "samples"}${each}.`;
}

/** Compares shares, since the baseline has many spans. */
async function difference(view: View, found: FoundSpan, place: StacksPlace, note: HTMLElement, signal: AbortSignal): Promise<void> {
  const baseline = baselineOf(view, found);
  const { query, type, from, until } = baseline;
  const wire = await view.api.get<WireDiff>("diff", {
    format: "tree", leftQuery: query, leftFrom: from, leftUntil: until, leftType: type,
    rightSpan: found.id, rightFrom: found.selection.from, rightUntil: found.selection.until, rightType: type,
  }, signal);
  const tree = treeOfDiff(wire);

  if (tree.comparison!.base.total === 0 || tree.comparison!.now.total === 0) {
    place.showInstead(h("p", { class: "notice", role: "status" }, "Nothing to compare: the span or its baseline has no samples."));
    return;
  }
  note.textContent = `${baselineText(baseline)} The graph compares the share of each function in the span with its share in the baseline.`;
  place.show(tree, `difference-${found.id}`, originOfPair(baseline, found.selection));
}

function traceSection(view: View, found: FoundSpan): HTMLElement[] {
  const { traced, firstNs, traceId, row } = found;

  if (traced)
    return [h("h2", {}, "Trace"), ...row?.samples ? [] : [h("p", { class: "notice" }, "This span has no samples: it used too little CPU time, or its profiles are not stored.")],
      facts([...traceFacts(traced, firstNs === null ? null : traced.startNs - firstNs), ["Trace", h("a", {
        href: view.address(toOtherView({ trace: traceId ?? undefined, span: found.id }), "trace"),
      }, idText(traceId ?? ""))]]), attributeTables(traced)];
  if (row)
    return [h("h2", {}, "Trace"), h("p", { class: "faint" }, traceId === null
      ? "No trace of this span. Send traces (OTLP) to /v1/traces on this server to see durations and attributes."
      : `This span belongs to the trace ${traceId}, which is not stored.`)];
  return [h("h2", {}, "Trace"), h("p", { class: "faint" }, "No samples and no trace of this span in this time range.")];
}
