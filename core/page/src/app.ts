/** The page of a server: reads the address, shows the view that the address names,
 * and keeps the two in step. */
import { Api, Problem, hasToken, isLeft } from "./parts/api.ts";
import { VIEWS, changed, entered, readAddress, writeAddress, type Change, type State, type ViewName } from "./model/state.ts";
import type { WireApplication } from "./model/wire.ts";
import { h, shown } from "./parts/dom.ts";
import { busyBar } from "./shell/busy.ts";
import { faultText, isAway, tokenForm, untilBack } from "./shell/faults.ts";
import { header, type Header, type Shell } from "./shell/header.ts";
import { Live } from "./shell/live.ts";
import { adhoc } from "./views/adhoc.ts";
import { comparison } from "./views/comparison.ts";
import { comparisonDiff } from "./views/comparison-diff.ts";
import { explore } from "./views/explore.ts";
import { labels } from "./views/labels.ts";
import { span } from "./views/span.ts";
import { spans } from "./views/spans.ts";
import { trace } from "./views/trace.ts";
import { traces } from "./views/traces.ts";
import type { Show, View } from "./views/view.ts";

const SHOWS: Readonly<Record<ViewName, Show>> = {
  explore, labels, spans, span, traces, trace, comparison, "comparison-diff": comparisonDiff, adhoc,
};

const TITLE_MAX = 80;

/** Parameters that select the displayed data within a view. Their changes become
 * history entries. Other changes replace the current entry, since Back would
 * otherwise undo single zooms and key presses. */
const STEPS: readonly string[] = ["sandwich", "focus", "hide", "of", "spanName", "noName"];

class App implements Shell {
  readonly api: Api;
  private readonly main = h("main", { id: "view", tabindex: "-1" });
  private readonly notice = h("div", { class: "notices" });
  private readonly said = h("p", { class: "sr", role: "status" });
  private readonly head: Header;
  private readonly live: Live;
  private now: State;
  private leaving = new AbortController();
  private again: (() => Promise<void>) | null = null;
  private listed = "";
  private waiting = 0;

  constructor(place: HTMLElement) {
    const busy = busyBar(this.main);

    this.api = new Api(new URL(location.href), (waiting) => { busy.set(this.waiting = waiting); });
    this.now = entered(readAddress(new URL(location.href)));
    this.live = new Live(async () => {
      // Do not refresh while requests are pending.
      if (this.waiting === 0)
        await this.refreshed();
    });
    this.head = header(this);
    place.append(this.skipLink(), this.head.element, busy.element, this.notice, this.main, this.said);
    addEventListener("popstate", () => {
      this.now = readAddress(new URL(location.href));
      this.show();
    });
    document.addEventListener("click", (event) => { this.followLink(event); });
    history.replaceState(null, "", writeAddress(this.now));
  }

  state(): State {
    return this.now;
  }

  address(change: Change, view?: ViewName): string {
    return writeAddress(changed(this.now, change, view));
  }

  go(change: Change, view?: ViewName): void {
    this.turn(changed(this.now, change, view), "step");
  }

  refresh(): void {
    void this.refreshed();
  }

  say(text: string): void {
    this.said.textContent = text;
  }

  show(): void {
    const state = this.now;
    const hadFocus = this.main.contains(document.activeElement);

    this.leaving.abort();
    this.leaving = new AbortController();
    this.again = null;
    this.notice.replaceChildren();
    this.head.update(state);
    this.head.setFault(null);
    this.title(state.parameters["query"] ?? "");
    const view = this.viewOf(state);
    this.main.replaceChildren(view.element);
    if (hadFocus)
      this.main.focus({ preventScroll: true });
    SHOWS[state.view](view).catch((error: unknown) => { this.failed(view, error); });
    void this.listApplications();
    this.live.set(state.parameters["live"] !== undefined && VIEWS[state.view].hasRange === true);
  }

  private turn(state: State, how: "step" | "replace"): void {
    const other = state.view !== this.now.view;

    this.now = state;
    if (how === "step")
      history.pushState(null, "", writeAddress(state));
    else
      history.replaceState(null, "", writeAddress(state));
    this.show();
    if (other && how === "step") {
      scrollTo(0, 0);
      this.main.focus({ preventScroll: true });
    }
  }

  private viewOf(state: State): View {
    const { signal } = this.leaving;
    // Callbacks of an abandoned view must not change the current one.
    const here = (run: () => void): void => {
      if (!signal.aborted)
        run();
    };

    const view: View = {
      element: h("div", { class: `view view-${state.view}` }), state, api: this.api, signal,
      go: (change, view) => { here(() => { this.go(change, view); }); },
      replace: (change, view) => { here(() => { this.turn(changed(this.now, change, view), "replace"); }); },
      note: (change) => { here(() => { this.note(change); }); },
      address: (change, view) => this.address(change, view),
      title: (text) => { here(() => { this.title(text); }); },
      onRefresh: (again) => { here(() => { this.again = again; }); },
      failed: (error) => { this.failed(view, error); },
      say: (text) => { this.say(text); },
    };

    return view;
  }

  private note(change: Change): void {
    const before = this.now;

    this.now = changed(before, change);
    if (STEPS.some((name) => this.now.parameters[name] !== before.parameters[name]))
      history.pushState(null, "", writeAddress(this.now));
    else
      history.replaceState(null, "", writeAddress(this.now));
    this.head.update(this.now);
    if (this.now.parameters["query"] !== before.parameters["query"])
      this.title(this.now.parameters["query"] ?? "");
  }

  private title(text: string): void {
    document.title = [shown(text, TITLE_MAX), VIEWS[this.now.view].title, "spanprof"].filter((each) => each !== "").join(" \u2013 ");
  }

  /** Reloads the view's data. An error is shown above the previous data. */
  private async refreshed(): Promise<void> {
    const { signal } = this.leaving;

    this.listed = "";
    if (!this.again) {
      this.show();
      return;
    }
    void this.listApplications();
    try {
      await this.again();
      if (!signal.aborted)
        this.notice.replaceChildren();
    } catch (error) {
      if (signal.aborted || isLeft(error))
        return;
      if (error instanceof Problem && error.status === 401)
        this.show();
      else
        this.notice.replaceChildren(faultText(error));
      if (isAway(error) && await this.isBack(signal))
        await this.refreshed();
    }
  }

  private failed(view: View, error: unknown): void {
    const { signal } = view;

    if (signal.aborted || isLeft(error))
      return;
    this.again = null;
    if (error instanceof Problem && error.status === 401) {
      // A refresh would clear the form while the user fills it in.
      this.live.set(false);
      const form = tokenForm(hasToken(), () => { this.show(); });
      view.element.replaceChildren(form);
      form.querySelector("input")?.focus();
      return;
    }
    if (error instanceof Problem && error.column !== null)
      this.head.setFault(error.column);
    view.element.replaceChildren(faultText(error));
    if (isAway(error))
      void this.waitFor(view);
    else if (!(error instanceof Problem))
      console.error(error);
  }

  private async waitFor(view: View): Promise<void> {
    if (await this.isBack(view.signal))
      this.show();
  }

  private async isBack(signal: AbortSignal): Promise<boolean> {
    const isBack = await untilBack(this.api, signal);

    this.listed = "";
    return isBack;
  }

  /** Loads the applications for the pickers, in the background, if the range or the
   * token has changed since or a refresh was requested. */
  private async listApplications(): Promise<void> {
    const { from, until } = this.now.parameters;
    const key = `${from ?? ""} ${until ?? ""} ${hasToken()}`;

    if (this.listed === key)
      return;
    try {
      const { applications } = await this.api.quiet().get<{ applications: WireApplication[] }>("applications", { from, until }, this.leaving.signal);
      this.listed = key;
      this.head.setApplications(applications);
    } catch (error) {
      // The view's own requests fail with the same error and show it.
      if (!(error instanceof Problem) && !isLeft(error))
        throw error;
    }
  }

  private skipLink(): HTMLElement {
    return h("a", { class: "skip", href: "#view", onclick: (event: Event) => {
      event.preventDefault();
      this.main.focus();
    } }, "Skip to content");
  }

  /** Follows plain clicks on links to views without loading the page again. */
  private followLink(event: MouseEvent): void {
    const link = event.target instanceof Element ? event.target.closest("a") : null;

    if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey
      || link.target !== "" || link.hasAttribute("download") || !/^https?:$/.test(link.protocol) || link.hash !== "")
      return;
    const to = readAddress(new URL(link.href));
    if (new URL(writeAddress(to), location.href).pathname !== new URL(link.href).pathname || link.origin !== location.origin)
      return;
    event.preventDefault();
    this.turn(to, "step");
  }
}

export function startApp(place: HTMLElement): void {
  new App(place).show();
}
