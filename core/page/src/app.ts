/** The page of a server: shows the view that the address names, and writes changes of
 * the view to the address. */
import { Api, Problem, isAborted } from "./parts/api.ts";
import { VIEWS, withChange, openedState, readAddress, writeAddress, type Change, type State, type ViewName } from "./model/state.ts";
import type { WireApplication } from "./model/wire.ts";
import { h, safeText } from "./parts/dom.ts";
import { hasToken } from "./parts/token.ts";
import { busyBar } from "./shell/busy.ts";
import { errorText, isUnavailable, tokenForm, waitForServer } from "./shell/errors.ts";
import { header, type Header, type Shell } from "./shell/header.ts";
import { Live } from "./shell/live.ts";
import { Results } from "./shell/results.ts";
import { rootOf } from "./shell/root.ts";
import { useZoneOf, withStoredZone } from "./shell/zone.ts";
import { adhoc } from "./views/adhoc.ts";
import { comparison } from "./views/comparison.ts";
import { comparisonDiff } from "./views/comparison-diff.ts";
import { explore } from "./views/explore.ts";
import { labels } from "./views/labels.ts";
import { missing } from "./views/missing.ts";
import { services } from "./views/services.ts";
import { span } from "./views/span.ts";
import { spans } from "./views/spans.ts";
import { trace } from "./views/trace.ts";
import { traces } from "./views/traces.ts";
import type { Show, View } from "./views/view.ts";

const VIEW_FUNCTIONS: Readonly<Record<ViewName, Show>> = {
  services, explore, labels, spans, span, traces, trace, comparison, "comparison-diff": comparisonDiff, adhoc, missing,
};

const TITLE_MAX = 80;

/** Parameters that select the displayed data within a view. Their changes become
 * history entries. Other changes replace the current entry, since Back would
 * otherwise undo single zooms and key presses. */
const HISTORY_PARAMETERS: readonly string[] = ["sandwich", "focus", "hide", "mine", "lines", "of", "spanName", "noName"];

class App implements Shell {
  readonly api: Api;
  private readonly main = h("main", { id: "view", tabindex: "-1" });
  private readonly notice = h("div", { class: "notices" });
  private readonly status = h("p", { class: "sr", role: "status" });
  private readonly results = new Results(this.main, () => { this.announce("New results are shown."); });
  private readonly head: Header;
  private readonly live: Live;
  private now: State;
  private viewAbort = new AbortController();
  private reloadData: (() => Promise<void>) | null = null;
  private listedFor = "";
  private pending = 0;

  constructor(place: HTMLElement) {
    const busy = busyBar(this.main);

    this.api = new Api(new URL(location.href), (waiting) => {
      busy.set(this.pending = waiting);
      if (waiting === 0)
        this.checkLoaded();
    });
    this.now = withStoredZone(openedState(readAddress(new URL(location.href))));
    this.live = new Live(async () => {
      // Do not refresh while requests are pending.
      if (this.pending === 0)
        await this.refreshNow();
    });
    this.head = header(this);
    place.append(this.skipLink(), this.head.element, busy.element, this.notice, this.main, this.status);
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
    return writeAddress(withChange(this.now, change, view));
  }

  go(change: Change, view?: ViewName): void {
    this.navigate(withChange(this.now, change, view), "step");
  }

  refresh(): void {
    void this.refreshNow();
  }

  announce(text: string): void {
    this.status.textContent = text;
  }

  show(): void {
    const state = this.now;
    const hadFocus = this.main.contains(document.activeElement);

    this.viewAbort.abort();
    this.viewAbort = new AbortController();
    this.reloadData = null;
    this.notice.replaceChildren();
    useZoneOf(state);
    this.head.update(state);
    this.head.setErrorColumn(null);
    this.title(state.parameters["query"] ?? "");
    const view = this.viewOf(state);
    this.results.load(view.element);
    if (hadFocus)
      this.main.focus({ preventScroll: true });
    VIEW_FUNCTIONS[state.view](view).then(() => {
      if (!view.signal.aborted)
        this.results.loaded();
    }, (error: unknown) => { this.failed(view, error); });
    void this.listApplications();
    this.live.set(state.parameters["live"] !== undefined && VIEWS[state.view].hasRange === true);
  }

  /** Shows the new view if it has no pending request. Without requests, the view may be waiting
   * for something else, for example for the server to return. */
  private checkLoaded(): void {
    const { signal } = this.viewAbort;

    setTimeout(() => {
      if (this.pending === 0 && !signal.aborted)
        this.results.loaded();
    });
  }

  private navigate(state: State, how: "step" | "replace"): void {
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
    const { signal } = this.viewAbort;
    // Callbacks of an abandoned view must not change the current one.
    const ifCurrent = (run: () => void): void => {
      if (!signal.aborted)
        run();
    };

    const view: View = {
      element: h("div", { class: `view view-${state.view}` }), state, api: this.api, signal,
      go: (change, view) => { ifCurrent(() => { this.go(change, view); }); },
      replace: (change, view) => { ifCurrent(() => { this.navigate(withChange(this.now, change, view), "replace"); }); },
      updateAddress: (change) => { ifCurrent(() => { this.note(change); }); },
      address: (change, view) => this.address(change, view),
      title: (text) => { ifCurrent(() => { this.title(text); }); },
      onRefresh: (again) => { ifCurrent(() => { this.reloadData = again; }); },
      showError: (error) => { this.failed(view, error); },
      announce: (text) => { this.announce(text); },
    };

    return view;
  }

  private note(change: Change): void {
    const before = this.now;

    this.now = withChange(before, change);
    if (HISTORY_PARAMETERS.some((name) => this.now.parameters[name] !== before.parameters[name]))
      history.pushState(null, "", writeAddress(this.now));
    else
      history.replaceState(null, "", writeAddress(this.now));
    this.head.update(this.now);
    if (this.now.parameters["query"] !== before.parameters["query"])
      this.title(this.now.parameters["query"] ?? "");
  }

  private title(text: string): void {
    document.title = [safeText(text, TITLE_MAX), VIEWS[this.now.view].title, "spanprof"].filter((each) => each !== "").join(" \u2013 ");
  }

  /** Reloads the view's data. An error is shown above the previous data. */
  private async refreshNow(): Promise<void> {
    const { signal } = this.viewAbort;

    this.listedFor = "";
    if (!this.reloadData) {
      this.show();
      return;
    }
    void this.listApplications();
    try {
      await this.reloadData();
      if (!signal.aborted)
        this.notice.replaceChildren();
    } catch (error) {
      if (signal.aborted || isAborted(error))
        return;
      if (error instanceof Problem && error.status === 401)
        this.show();
      else
        this.notice.replaceChildren(errorText(error));
      if (isUnavailable(error) && await this.isBack(signal))
        await this.refreshNow();
    }
  }

  private failed(view: View, error: unknown): void {
    const { signal } = view;

    if (signal.aborted || isAborted(error))
      return;
    this.reloadData = null;
    this.results.loaded(true);
    if (error instanceof Problem && error.status === 401) {
      // A refresh would clear the form while the user fills it in.
      this.live.set(false);
      const form = tokenForm(hasToken(), () => { this.show(); });
      view.element.replaceChildren(form);
      form.querySelector("input")?.focus();
      return;
    }
    if (error instanceof Problem && error.column !== null)
      this.head.setErrorColumn(error.column);
    view.element.replaceChildren(errorText(error));
    if (isUnavailable(error))
      void this.waitFor(view);
    else if (!(error instanceof Problem))
      console.error(error);
  }

  private async waitFor(view: View): Promise<void> {
    if (await this.isBack(view.signal))
      this.show();
  }

  private async isBack(signal: AbortSignal): Promise<boolean> {
    const isBack = await waitForServer(this.api, signal);

    this.listedFor = "";
    return isBack;
  }

  /** Loads the applications for the pickers in the background, if the range or the
   * token has changed since the last time, or after a refresh. */
  private async listApplications(): Promise<void> {
    const { from, until } = this.now.parameters;
    const key = `${from ?? ""} ${until ?? ""} ${hasToken()}`;

    if (this.listedFor === key)
      return;
    try {
      const { applications } = await this.api.background().get<{ applications: WireApplication[] }>("applications", { from, until }, this.viewAbort.signal);
      this.listedFor = key;
      this.head.setApplications(applications);
    } catch (error) {
      // Ignore errors of the server: the view's own requests fail with the same error,
      // and the view shows it.
      if (!(error instanceof Problem) && !isAborted(error))
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
    // A link without a time zone keeps the current time zone.
    this.navigate(withChange(to, { tz: this.now.parameters["tz"], ...to.parameters }), "step");
  }
}

/** Shows the view of the current address. An unknown address is first replaced by an address
 * in the directory of the views, because all links of the page are relative to it. */
export async function startApp(place: HTMLElement): Promise<void> {
  const address = new URL(location.href);
  const state = readAddress(address);

  if (state.view === "missing")
    history.replaceState(null, "", new URL(writeAddress(state), await rootOf(address)));
  new App(place).show();
}
