/** The Explore view: timeline and flame graph of one selection. */
import type { View } from "./view.ts";
import { flamePanel, type Panel } from "../flame/panel.ts";
import { defaultChange } from "../explore/default.ts";
import { emptyReason } from "../explore/empty.ts";
import { typeName, typeOf, unitOf } from "../model/choice.ts";
import { originOf, type Origin } from "../export/origin.ts";
import { rangeChange, rangeOf } from "../model/range.ts";
import { treeOf } from "../model/tree.ts";
import type { WireAnnotation, WireTree } from "../model/wire.ts";
import { amount, count } from "../parts/format.ts";
import { h, replaceContent, safeText } from "../parts/dom.ts";
import { Problem } from "../parts/api.ts";
import { errorText } from "../shell/errors.ts";
import { comparisonsAt } from "../spans/before_after.ts";
import { LatestRequest } from "../parts/latest.ts";
import { applicationOf } from "../query/parse.ts";
import type { WireSeries } from "../timeline/series.ts";
import { hasSeveralServices } from "./services.ts";
import { Timeline } from "../timeline/timeline.ts";

const NAME_MAX = 120;

/** The parameters of the view's requests. */
interface ExploreSelection {
  query: string;
  type: string | undefined;
  from: string | undefined;
  until: string | undefined;
}

class Explore {
  private readonly heading = h("h1", {});
  private readonly figures = h("p", { class: "figures" });
  private readonly place = h("div", { class: "graph" });
  private readonly timeline: Timeline;
  private readonly latest: LatestRequest;
  private panel: Panel | null = null;
  private origin: Origin | null = null;

  constructor(private readonly view: View, private readonly selection: ExploreSelection) {
    this.timeline = new Timeline({
      api: view.api, application: applicationOf(selection.query), signal: view.signal, announce: (text) => { view.announce(text); },
      onRange: (range) => { view.go({ ...rangeChange(range), live: undefined }); },
      comparisons: (ms) => {
        const { query, from, until } = view.state.parameters;
        return comparisonsAt(view, query, rangeOf(from, until) ?? rangeOf(undefined, undefined)!, ms);
      },
      onAnnotations: async () => { await this.loadTimeline(view.signal); },
    });
    this.heading.textContent = titleOf(selection);
    view.element.append(h("div", { class: "headline" }, this.heading, this.figures), this.timeline.element, this.place);
    this.latest = new LatestRequest(view.signal);
    view.signal.addEventListener("abort", () => {
      this.panel?.dispose();
      this.panel = null;
    });
  }

  /** Requests profile and timeline at the same time and shows each when it arrives. */
  async load(): Promise<void> {
    const signal = this.latest.next();

    await Promise.all([this.loadProfile(signal).catch((error: unknown) => { this.showQueryError(error, signal); }), this.loadTimeline(signal)]);
  }

  private async loadProfile(signal: AbortSignal): Promise<void> {
    const { api } = this.view;
    const { query, type, from, until } = this.selection;
    const origin = originOf(api, this.selection);
    const wire = await api.get<WireTree>("profile", { format: "tree", query, type, from, until }, signal);

    const reason = wire.nodes.self.some((value) => value !== 0) ? null : await emptyReason(this.view);

    signal.throwIfAborted();
    this.origin = origin;
    this.figures.textContent = figuresOf(wire, typeOf(this.selection));
    if (reason) {
      this.showInstead(reason);
      return;
    }
    if (this.panel) {
      this.panel.setTree(treeOf(wire));
      return;
    }
    this.panel = flamePanel({
      tree: treeOf(wire), display: this.view.state.parameters, title: titleOf(this.selection), origin: () => this.origin!,
      onDisplayChange: (display) => { this.view.updateAddress(display); },
    });
    this.place.replaceChildren(this.panel.element);
  }

  /** Shows the error of a query that is too large instead of the graph, but keeps the
   * timeline, so that the user can select a smaller range. */
  private showQueryError(error: unknown, signal: AbortSignal): void {
    if (!(error instanceof Problem) || ![429, 503].includes(error.status) || signal.aborted)
      throw error;
    this.showInstead(errorText(error));
  }

  private showInstead(element: HTMLElement): void {
    this.panel?.dispose();
    this.panel = null;
    replaceContent(this.place, element);
  }

  private async loadTimeline(signal: AbortSignal): Promise<void> {
    const { api } = this.view;
    const { query, type, from, until } = this.selection;
    const application = applicationOf(query) ?? undefined;
    const [series, annotated] = await Promise.all([
      api.get<WireSeries>("series", { query, type, from, until }, signal),
      api.get<{ annotations: WireAnnotation[] }>("annotations", { application, from, until }, signal),
    ]);

    this.timeline.set(series, annotated.annotations);
  }
}

function figuresOf(wire: WireTree, type: string): string {
  const total = wire.nodes.self.reduce((sum, value) => sum + value, 0);

  return total === 0 ? "" : `${amount(total, wire.unit || unitOf(type))} in ${count(wire.profiles)} profile${wire.profiles === 1 ? "" : "s"}`;
}

function titleOf(selection: ExploreSelection): string {
  return `${safeText(applicationOf(selection.query) ?? "All applications", NAME_MAX)} \u2013 ${safeText(typeName(typeOf(selection)), NAME_MAX)}`;
}

export async function explore(view: View): Promise<void> {
  const { query, type, from, until } = view.state.parameters;
  const range = rangeOf(from, until);

  if (query === undefined && range) {
    if (type === undefined && await hasSeveralServices(view)) {
      view.replace({}, "services");
      return;
    }
    const change = await defaultChange(view, range);
    if (change) {
      view.replace(change);
      return;
    }
    view.element.append(await emptyReason(view));
    return;
  }
  const page = new Explore(view, { query: query ?? "", type, from, until });
  view.onRefresh(async () => { await page.load(); });
  await page.load();
}
