/** The Traces view: the list of traces, which shows their root spans. */
import type { WireRoot, WireTrace } from "../model/wire.ts";
import { ALL_TIME } from "../explore/default.ts";
import { h, replaceContent, safeText } from "../parts/dom.ts";
import { amount, count, moment } from "../parts/format.ts";
import { LatestRequest } from "../parts/latest.ts";
import { zoneOf } from "../parts/zone.ts";
import { loadPart } from "../shell/errors.ts";
import { durationText, idText, nameText, samplesCell, valueBar } from "../spans/cells.ts";
import { toOtherView, measureOf, type Measure } from "../spans/links.ts";
import { table, type Column } from "../spans/table.ts";
import { statusText } from "../trace/details.ts";
import { FILTERS, durationMs, filters } from "../trace/filters.ts";
import type { View } from "./view.ts";

const PAGE_ROWS = 50;
const ORDERS = [["latest", "Latest"], ["slowest", "Slowest"], ["dearest", "Most CPU"]] as const;
/** Number of traces that the server sorts for "Most CPU": the latest ones. */
const DEAREST_OF = 500;

/** Number of services and names to choose from in the filters. */
const ROOTS_MAX = 10_000;

interface Page {
  traces: WireTrace[];
  /** Number of traces on all pages. */
  count: number;
  after: string | null;
}

function columnsOf(view: View, { unit, name }: Measure, most: () => number): Column<WireTrace>[] {
  return [
    { id: "trace", title: "Trace", cell: (row) => h("span", { class: "span-name" }, h("a", {
      href: view.address(toOtherView({ trace: row.traceId }), "trace"), title: safeText(row.name, 1000) || undefined,
    }, nameText(row.name)), ...tagsOf(row)) },
    { id: "service", title: "Service", cell: (row) => safeText(row.service, 80) },
    { id: "start", title: "Start", hint: `Times in ${zoneOf(Date.now())}`, cell: (row) => moment(row.startNs / 1e6) },
    { id: "duration", title: "Duration", numeric: true, cell: (row) => durationText(row.durationNs) },
    { id: "total", title: name, hint: "All spans of the trace", numeric: true, cell: (row) => valueBar(row.total, most(), unit, row.samples) },
    { id: "samples", title: "Samples", numeric: true, cell: (row) => row.samples === 0 ? "\u2013" : samplesCell(row.samples) },
    { id: "status", title: "Status", cell: (row) => statusText(row) },
    { id: "id", title: "Trace ID", cell: (row) => idText(row.traceId) },
  ];
}

/** Tags for an error of the root or of other spans, and for a root that is not stored. */
function tagsOf({ status, errors, rootMissing }: WireTrace): (Node | string)[] {
  const error = status === 2 ? "error" : errors > 0 ? `error in ${errors === 1 ? "a span" : `${count(errors)} spans`}` : null;

  return [
    ...error ? [" ", h("span", { class: "tag error" }, error)] : [],
    ...rootMissing ? [" ", h("span", {
      class: "tag", title: "The root span of this trace was not received, or is already deleted. The row shows the earliest stored span.",
    }, "root not stored")] : [],
  ];
}

function orderLinks(view: View, order: string): HTMLElement {
  return h("div", { class: "orders", role: "group", "aria-label": "Order" }, ...ORDERS.map(([id, title]) => h("a", {
    href: view.address({ by: id === "latest" ? undefined : id, after: undefined }), "aria-current": id === order ? "true" : undefined,
  }, title)));
}

function emptyNotice(view: View, filtered: boolean): HTMLElement {
  const clear = h("a", { href: view.address({ ...Object.fromEntries(FILTERS.map((name) => [name, undefined])), after: undefined }) }, "Clear filters");

  return h("div", { class: "notice empty", role: "status" }, h("p", {}, filtered
    ? "No traces in this time range match the filters."
    : "No traces in this time range. To send traces, configure the OTLP exporter of the application or collector with this server\u2019s address and /v1/traces."),
  filtered && h("p", {}, clear));
}

/** Links to the latest trace outside of the range. */
async function nearestTrace(view: View): Promise<HTMLElement | null> {
  const { traces } = await view.api.get<Page>("traces", { ...ALL_TIME, limit: 1 }, view.signal);
  const latest = traces[0];

  if (!latest)
    return h("p", { class: "notice" }, "This server has not received any traces yet.");
  const atMs = Math.floor(latest.startNs / 1e6);
  return h("p", { class: "notice" }, "Latest trace: ", h("a", {
    href: view.address({ from: String(atMs - 1_800_000), until: String(atMs + 1_800_000), after: undefined }),
  }, moment(atMs)));
}

export async function traces(view: View): Promise<void> {
  const { type, from, until, service, name, minDuration, attributes, status, after } = view.state.parameters;
  const order = ORDERS.find(([id]) => id === view.state.parameters["by"])?.[0] ?? "latest";
  const filtered = FILTERS.some((each) => view.state.parameters[each] !== undefined);
  const parameters = {
    type, from, until, service, name, minDurationMs: durationMs(minDuration ?? "") ?? undefined, attributes, status, sort: order, limit: PAGE_ROWS,
  };
  const measure = measureOf(view.state);

  const latest = new LatestRequest(view.signal);
  const result = h("div", {});
  const traceList = list(view, order, measure);
  const form = filters(view);
  const load = async (): Promise<void> => {
    const signal = latest.next();
    const [page, { roots }] = await Promise.all([
      view.api.get<Page>("traces", { ...parameters, after }, signal),
      view.api.get<{ roots: WireRoot[] }>("roots", { from, until, limit: ROOTS_MAX }, signal),
    ]);
    const nearest = page.traces.length === 0 && !filtered ? await nearestTrace(view) : null;

    signal.throwIfAborted();
    form.setRoots(roots);
    if (page.traces.length === 0)
      replaceContent(result, emptyNotice(view, filtered), ...nearest ? [nearest] : []);
    else {
      traceList.set(page);
      if (!traceList.element.isConnected)
        result.replaceChildren(traceList.element);
    }
  };

  view.element.append(h("h1", {}, "Traces"), h("div", { class: "tools-row" }, orderLinks(view, order), form.element), result);
  view.onRefresh(load);
  // An error replaces only the list, not the filters.
  await loadPart(view, view.signal, load, (fault) => { result.replaceChildren(fault); });
}

/** "6 traces", or "Traces 51–100 of 1,234" for one of several pages. `first` is the
 * number of traces on the previous pages. */
function rangeText({ traces: rows, count: all }: Page, first: number): string {
  return rows.length === all ? `${count(all)} trace${all === 1 ? "" : "s"}` : `Traces ${count(first + 1)}\u2013${count(first + rows.length)} of ${count(all)}`;
}

function list(view: View, order: string, measure: Measure): { element: HTMLElement; set: (page: Page) => void } {
  const after = view.state.parameters["after"];
  const summary = h("p", { class: "summary" }), paging = h("nav", { class: "paging", "aria-label": "Pages" });
  let most = 0;
  const rows = table<WireTrace>({ label: "Traces", rows: [], columns: columnsOf(view, measure, () => most) });

  return {
    element: h("section", { "aria-label": "Traces" }, summary, rows.element, paging),
    set(page) {
      const sum = page.traces.reduce((all, { total }) => all + total, 0);

      most = page.traces.reduce((max, { total }) => Math.max(max, total), 0);
      summary.textContent = `${rangeText(page, Number(after ?? 0))}. ${amount(sum, measure.unit)} ${measure.name} in ${page.traces.length === page.count ? "total" : "those listed"}.`
        + (order === "dearest" && page.count > DEAREST_OF ? ` Sorted among the latest ${DEAREST_OF} traces.` : "");
      rows.setRows(page.traces);
      replaceContent(paging, ...after ? [h("a", { href: view.address({ after: undefined }) }, "First page"), new Text(" ")] : [],
        ...page.after !== null ? [h("a", { href: view.address({ after: page.after }) }, "Next page")] : []);
    },
  };
}
