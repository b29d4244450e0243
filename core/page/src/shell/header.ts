/** The page's header: navigation, pickers, query and time range. */
import { WITH_RANGE, type Change, type State, type ViewName } from "../model/state.ts";
import type { WireApplication } from "../model/wire.ts";
import type { Api } from "../parts/api.ts";
import { h } from "../parts/dom.ts";
import { queryBox } from "../query/box.ts";
import { copyButton } from "./copy.ts";
import { pickers } from "./pickers.ts";
import { rangeControl } from "./range.ts";
import { themeControl } from "./theme.ts";

/** The page, as its header uses it. */
export interface Shell {
  readonly api: Api;
  state(): State;
  go(change: Change, view?: ViewName): void;
  address(change: Change, view?: ViewName): string;
  /** Reloads the data of the view. */
  refresh(): void;
  say(text: string): void;
}

/** A part of the header, which shows a state. */
export interface Part {
  readonly element: HTMLElement;
  update(state: State): void;
}

export interface Header extends Part {
  setApplications(applications: readonly WireApplication[]): void;
  /** Sets the position of the query's error, in bytes from 1; null if it has none. */
  setFault(column: number | null): void;
}

const LINKS: readonly (readonly [ViewName, string])[] = [
  ["explore", "Explore"], ["labels", "Labels"], ["spans", "Spans"], ["traces", "Traces"],
  ["comparison", "Compare"], ["comparison-diff", "Diff"], ["adhoc", "Open file"],
];

/** The link that is current for views without a link of their own. */
const UNDER: Partial<Record<ViewName, ViewName>> = { span: "spans", trace: "traces" };

/** Views of one query. Other views have their own fields, or none. */
const WITH_QUERY: readonly ViewName[] = ["explore", "labels", "spans"];

/** Parameters that navigation keeps from view to view. It drops others, such as a
 * graph's zoom or a span's id. */
const CARRIED: readonly string[] = ["query", "type", "from", "until", "live"];

function carried(state: State): Change {
  return Object.fromEntries(Object.keys(state.parameters)
    .filter((name) => !CARRIED.includes(name)).map((name) => [name, undefined]));
}

function navigation(shell: Shell): Part {
  const links = LINKS.map(([view, text]) => ({ view, link: h("a", { class: "nav-link" }, text) }));
  const element = h("nav", { "aria-label": "Views" }, ...links.map(({ link }) => link));

  return {
    element,
    update(state) {
      for (const { view, link } of links) {
        link.href = shell.address(carried(state), view);
        if (view === (UNDER[state.view] ?? state.view))
          link.setAttribute("aria-current", "page");
        else
          link.removeAttribute("aria-current");
      }
    },
  };
}

export function header(shell: Shell): Header {
  const nav = navigation(shell);
  const picks = pickers(shell);
  const range = rangeControl(shell);
  const box = queryBox({
    label: "Query", api: shell.api,
    parameters: () => shell.state().parameters,
    onRun: (query) => { shell.go({ query, span: undefined, trace: undefined, zoom: undefined }); },
  });
  const controls = h("div", { class: "controls", role: "group", "aria-label": "What is shown" }, picks.element, box.element, range.element);
  const home = h("a", { class: "brand", href: "./" }, "spanprof");
  const element = h("header", { class: "shell" },
    h("div", { class: "bar" }, home, nav.element, h("div", { class: "tools" }, copyButton(shell), themeControl())), controls);

  return {
    element,
    update(state) {
      const withQuery = WITH_QUERY.includes(state.view);

      nav.update(state);
      picks.element.hidden = box.element.hidden = !withQuery;
      controls.hidden = !withQuery && !WITH_RANGE.includes(state.view);
      picks.update(state);
      range.update(state);
      box.set(state.parameters["query"] ?? "");
    },
    setApplications: (applications) => { picks.setApplications(applications); },
    setFault: (column) => { box.setFault(column); },
  };
}
