/** One span: where it spent its time, next to others of its kind, and what its
 * trace tells of it. */
import { treeOfDiff } from "../model/tree.ts";
import type { WireDiff, WireSpan } from "../model/wire.ts";
import { isLeft } from "../parts/api.ts";
import { h, shown } from "../parts/dom.ts";
import { amount, count, moment, percent } from "../parts/format.ts";
import { withMatcher } from "../query/parse.ts";
import { faultText } from "../shell/faults.ts";
import { fewSamples, idText, nameText } from "../spans/cells.ts";
import { relativeTo } from "../spans/change.ts";
import { baselineOf, findSpan, type Baseline, type FoundSpan } from "../spans/found.ts";
import { elsewhere, measureOf, spanIdOf, spanQuery, type Measure } from "../spans/links.ts";
import { StacksPlace } from "../spans/stacks.ts";
import { tabs } from "../spans/tabs.ts";
import { attributeTables, facts, traceFacts } from "../trace/details.ts";
import type { View } from "./view.ts";

const ID = /^[0-9a-f]{16}$/;

export async function span(view: View): Promise<void> {
  const id = (view.state.parameters["span"] ?? spanIdOf(view.state.parameters["query"] ?? "") ?? "").toLowerCase();

  if (!ID.test(id)) {
    view.element.append(h("h1", {}, "Span"), h("p", { class: "notice", role: "status" }, id === ""
      ? "No span is chosen: the list of spans and each trace lead here, and the link in a span\u2019s attribute pyroscope.profile.url."
      : `\u201c${shown(id, 60)}\u201d is no span\u2019s id, which is 16 hexadecimal digits.`),
    h("p", {}, h("a", { href: view.address(elsewhere({}), "spans") }, "All spans")));
    return;
  }
  const found = await findSpan(view, id);
  const measure = measureOf(view.state);

  view.element.append(heading(view, found), cost(found, measure), h("div", { class: "span-page" },
    stacks(view, found, measure), h("aside", { "aria-label": "What its trace tells" }, ...ofTrace(view, found))));
}

function heading(view: View, found: FoundSpan): HTMLElement {
  return h("header", { class: "span-head" }, h("h1", {}, found.name === null ? "Span without a name" : nameText(found.name)),
    h("p", { class: "faint" }, found.service === null ? "" : `${shown(found.service, 100)}, `, "span ", idText(found.id)),
    h("p", { class: "links" },
      found.traced && h("a", { href: view.address(elsewhere({ trace: found.traceId ?? undefined, span: found.id }), "trace") }, "Its trace"),
      h("a", { href: view.address(elsewhere({ query: spanQuery(view.state.parameters["query"] ?? "", found.id) }), "explore") }, "Explore"),
      h("a", { href: view.address(elsewhere(comparisonOf(view, found)), "comparison") }, "Compare with its baseline")));
}

function comparisonOf(view: View, found: FoundSpan): Record<string, string | undefined> {
  const baseline = baselineOf(view, found);
  const service = found.service === null ? "" : withMatcher("", "service_name", found.service);

  return {
    leftQuery: baseline.query, leftFrom: baseline.from, leftUntil: baseline.until,
    rightQuery: spanQuery(service, found.id), rightFrom: found.own.from, rightUntil: found.own.until,
  };
}

function cost(found: FoundSpan, { unit, name }: Measure): HTMLElement {
  const total = found.row?.total ?? 0, samples = found.row?.samples ?? 0;
  const durationNs = found.traced?.durationNs ?? found.row?.durationNs;
  const numbers = facts([
    [name, h("strong", {}, amount(total, unit))],
    ["Samples", h("span", {}, count(samples), " ", samples > 0 && fewSamples(samples))],
    ["Duration", durationNs === undefined ? "not known without its trace" : amount(durationNs, "nanoseconds")],
    ...durationNs && unit === "nanoseconds" ? [[`${name} of duration`, percent(total / durationNs)] as const] : [],
  ]);

  numbers.classList.add("figures");
  return numbers;
}

function failing(place: StacksPlace): (error: unknown) => void {
  return (error) => {
    if (!isLeft(error))
      place.showInstead(faultText(error));
  };
}

/** Its own stacks, those of its baseline, and both together, as tabs. */
function stacks(view: View, found: FoundSpan, measure: Measure): HTMLElement {
  const baseline = baselineOf(view, found);
  const own = new StacksPlace(view), base = new StacksPlace(view), both = new StacksPlace(view);
  const ofBase = h("p", { class: "faint" }, baselineText(baseline));
  const ofBoth = h("p", { class: "faint", role: "status" });

  return tabs(view, "of", "What is drawn", [
    { id: "span", title: "This span", element: own.element, open: () => {
      own.ask(found.own, `span-${found.id}`).catch(failing(own));
    } },
    { id: "baseline", title: "Baseline", element: h("div", {}, ofBase, base.element), open: () => {
      base.ask(baseline, `baseline-${found.id}`).catch(failing(base));
      baselineFigures(view, baseline, measure).then((text) => { ofBase.textContent = text; }, failing(base));
    } },
    { id: "difference", title: "Difference", element: h("div", {}, ofBoth, both.element), open: () => {
      difference(view, found, baseline, both, ofBoth).catch(failing(both));
    } },
  ]);
}

function baselineText({ says, from, until }: Baseline): string {
  return `Baseline: ${says}, ${moment(Number(from))} \u2013 ${moment(Number(until))}.`;
}

async function baselineFigures(view: View, baseline: Baseline, { unit, name }: Measure): Promise<string> {
  const { query, type, from, until } = baseline;
  const { spans } = await view.api.get<{ spans: WireSpan[] }>("spans", { query, type, from, until }, view.signal);
  const all = spans.reduce((sum, each) => ({ total: sum.total + each.total, spans: sum.spans + each.spans, samples: sum.samples + each.samples }),
    { total: 0, spans: 0, samples: 0 });
  const each = all.spans ? `, ${amount(all.total / all.spans, unit)} ${name} each` : "";

  return `${baselineText(baseline)} ${count(all.spans)} ${all.spans === 1 ? "span" : "spans"} with ${count(all.samples)} ${all.samples === 1 ? "sample" : "samples"}${each}.`;
}

/** Shares are compared: a span is one, its baseline many. */
async function difference(view: View, found: FoundSpan, baseline: Baseline, place: StacksPlace, says: HTMLElement): Promise<void> {
  const { query, type, from, until } = baseline;
  const wire = await view.api.get<WireDiff>("diff", {
    format: "tree", leftQuery: query, leftFrom: from, leftUntil: until, leftType: type,
    rightSpan: found.id, rightFrom: found.own.from, rightUntil: found.own.until, rightType: type,
  }, view.signal);
  const tree = relativeTo(treeOfDiff(wire));

  if (tree === null) {
    place.showInstead(h("p", { class: "notice", role: "status" }, "There is nothing to compare: the span or its baseline has no samples here."));
    return;
  }
  says.textContent = `${baselineText(baseline)} It is scaled to the span\u2019s sum, so that shares are compared.`;
  place.show(tree, `difference-${found.id}`);
}

function ofTrace(view: View, found: FoundSpan): HTMLElement[] {
  const { traced, firstNs, traceId, row } = found;

  if (traced)
    return [h("h2", {}, "Trace"), ...row?.samples ? [] : [h("p", { class: "notice" }, "Its trace is kept, but no sample of it: it used too little CPU time, or its profiles are not kept.")],
      facts([...traceFacts(traced, firstNs === null ? null : traced.startNs - firstNs), ["Trace", h("a", {
        href: view.address(elsewhere({ trace: traceId ?? undefined, span: found.id }), "trace"),
      }, idText(traceId ?? ""))]]), attributeTables(traced)];
  if (row)
    return [h("h2", {}, "Trace"), h("p", { class: "faint" }, traceId === null
      ? "No trace of this span is kept: send traces to this server at /v1/traces (OTLP) to see its duration and attributes."
      : `Its samples tell that it is of the trace ${traceId}, which is not kept.`)];
  return [h("h2", {}, "Trace"), h("p", { class: "faint" }, "Neither a sample nor a trace of it is kept in this range.")];
}
