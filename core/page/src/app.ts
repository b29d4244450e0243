/** The page of a server: reads the address, shows the view that it names, and
 * keeps both in step. */
import { Api, Problem } from "./parts/api.ts";
import { changed, readAddress, writeAddress, type Change, type State, type ViewName } from "./model/state.ts";
import { h, shown } from "./parts/dom.ts";
import { explore } from "./views/explore.ts";
import type { Show, View } from "./views/view.ts";

const SHOWS: Partial<Record<ViewName, Show>> = { explore };

export function startApp(place: HTMLElement): void {
  const api = new Api(new URL(location.href));
  const main = h("main", { id: "view", tabindex: "-1" });
  let state = readAddress(new URL(location.href));
  let leaving = new AbortController();

  function go(change: Change, view?: ViewName): void {
    state = changed(state, change, view);
    history.pushState(null, "", writeAddress(state));
    show();
  }

  function note(change: Change): void {
    state = changed(state, change);
    history.replaceState(null, "", writeAddress(state));
  }

  function viewOf(of: State): View {
    return {
      element: h("div", { class: `view view-${of.view}` }), state: of, api, signal: leaving.signal, go, note,
      address: (change, view) => writeAddress(changed(state, change, view)),
    };
  }

  function show(): void {
    leaving.abort();
    leaving = new AbortController();
    const view = viewOf(state);
    const shows = SHOWS[state.view] ?? explore;

    main.replaceChildren(view.element);
    shows(view).catch((error: unknown) => { view.element.replaceChildren(faultOf(error)); });
  }

  addEventListener("popstate", () => {
    state = readAddress(new URL(location.href));
    show();
  });
  place.append(main);
  show();
}

function faultOf(error: unknown): Node {
  if (error instanceof DOMException && error.name === "AbortError")
    return h("p", {});
  if (error instanceof Problem)
    return h("p", { class: "fault", role: "alert" }, shown(error.message));
  throw error;
}
