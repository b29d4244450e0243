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
import { h, renew, shown } from "../parts/dom.ts";
import { Problem } from "../parts/api.ts";
import { faultText } from "../shell/faults.ts";
import { Latest } from "../parts/latest.ts";
import { applicationOf } from "../query/parse.ts";
import type { WireSeries } from "../timeline/series.ts";
import { Timeline } from "../timeline/timeline.ts";

const NAME_MAX = 120;

/** The parameters of the view's requests. */
interface Asked {
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
  private readonly asking: Latest;
  private panel: Panel | null = null;
  private origin: Origin | null = null;

  constructor(private readonly view: View, private readonly asked: Asked) {
    this.timeline = new Timeline({
      api: view.api, application: applicationOf(asked.query), signal: view.signal, say: (text) => { view.say(text); },
      onRange: (range) => { view.go({ ...rangeChange(range), live: undefined }); },
      onAnnotations: async () => { await this.loadTimeline(view.signal); },
    });
    this.heading.textContent = titleOf(asked);
    view.element.append(h("div", { class: "headline" }, this.heading, this.figures), this.timeline.element, this.place);
    this.asking = new Latest(view.signal);
    view.signal.addEventListener("abort", () => {
      this.panel?.dispose();
      this.panel = null;
    });
  }

  /** Requests profile and timeline at the same time and shows each when it arrives. */
  async load(): Promise<void> {
    const signal = this.asking.next();

    await Promise.all([this.loadProfile(signal).catch((error: unknown) => { this.refused(error, signal); }), this.loadTimeline(signal)]);
  }

  private async loadProfile(signal: AbortSignal): Promise<void> {
    const { api } = this.view;
    const { query, type, from, until } = this.asked;
    const origin = originOf(api, this.asked);
    const wire = await api.get<WireTree>("profile", { format: "tree", query, type, from, until }, signal);

    const why = wire.nodes.self.some((value) => value !== 0) ? null : await emptyReason(this.view);

    signal.throwIfAborted();
    this.origin = origin;
    this.figures.textContent = figuresOf(wire, typeOf(this.asked));
    if (why) {
      this.showInstead(why);
      return;
    }
    if (this.panel) {
      this.panel.setTree(treeOf(wire));
      return;
    }
    this.panel = flamePanel({
      tree: treeOf(wire), look: this.view.state.parameters, title: titleOf(this.asked), origin: () => this.origin!,
      onLook: (look) => { this.view.note(look); },
    });
    this.place.replaceChildren(this.panel.element);
  }

  /** Shows the error of a too large query instead of the graph, but keeps the
   * timeline, so that the user can select a smaller range. */
  private refused(error: unknown, signal: AbortSignal): void {
    if (!(error instanceof Problem) || ![429, 503].includes(error.status) || signal.aborted)
      throw error;
    this.showInstead(faultText(error));
  }

  private showInstead(element: HTMLElement): void {
    this.panel?.dispose();
    this.panel = null;
    renew(this.place, element);
  }

  private async loadTimeline(signal: AbortSignal): Promise<void> {
    const { api } = this.view;
    const { query, type, from, until } = this.asked;
    const application = applicationOf(query) ?? undefined;
    const [series, told] = await Promise.all([
      api.get<WireSeries>("series", { query, type, from, until }, signal),
      api.get<{ annotations: WireAnnotation[] }>("annotations", { application, from, until }, signal),
    ]);

    this.timeline.set(series, told.annotations);
  }
}

function figuresOf(wire: WireTree, type: string): string {
  const total = wire.nodes.self.reduce((sum, value) => sum + value, 0);

  return total === 0 ? "" : `${amount(total, wire.unit || unitOf(type))} in ${count(wire.profiles)} profile${wire.profiles === 1 ? "" : "s"}`;
}

function titleOf(asked: Asked): string {
  return `${shown(applicationOf(asked.query) ?? "All applications", NAME_MAX)} \u2013 ${shown(typeName(typeOf(asked)), NAME_MAX)}`;
}

export async function explore(view: View): Promise<void> {
  const { query, type, from, until } = view.state.parameters;
  const range = rangeOf(from, until);

  if (query === undefined && range) {
    const change = await defaultChange(view, range);
    if (change) {
      view.replace(change);
      return;
    }
    view.element.append(await emptyReason(view));
    return;
  }
  const shows = new Explore(view, { query: query ?? "", type, from, until });
  view.onRefresh(async () => { await shows.load(); });
  await shows.load();
}
