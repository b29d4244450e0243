/** The page's header: navigation, pickers, query and time range. */
import { VIEWS, VIEW_NAMES, type Change, type State, type ViewName } from "../model/state.ts";
import type { WireApplication } from "../model/wire.ts";
import type { Range } from "../model/range.ts";
import type { Api } from "../parts/api.ts";
import { findBox } from "../find/box.ts";
import { h } from "../parts/dom.ts";
import { queryBox } from "../query/box.ts";
import { copyButton } from "./copy.ts";
import { forgetButton } from "./forget.ts";
import { pickers } from "./pickers.ts";
import { rangeControl } from "./range.ts";
import { themeControl } from "./theme.ts";
import { zoneControl } from "./zone.ts";

/** The members of the page that its header uses. */
export interface Shell {
  readonly api: Api;
  state(): State;
  go(change: Change, view?: ViewName): void;
  address(change: Change, view?: ViewName): string;
  /** Moves the range of the controls one step. The default is half of its length. */
  stepped?: (range: Range, direction: -1 | 1) => Range;
  /** Reloads the data of the view. */
  refresh(): void;
  announce(text: string): void;
}

/** A part of the header, which shows a state. */
export interface HeaderPart {
  readonly element: HTMLElement;
  update(state: State): void;
}

export interface Header extends HeaderPart {
  setApplications(applications: readonly WireApplication[]): void;
  /** Sets the position of the query's error, in bytes from 1; null if it has none. */
  setErrorColumn(column: number | null): void;
}

/** Parameters that navigation keeps from view to view. It drops others, such as a
 * graph's zoom or a span's id. */
const KEPT_PARAMETERS: readonly string[] = ["query", "type", "from", "until", "live", "tz"];

function droppedParameters(state: State): Change {
  return Object.fromEntries(Object.keys(state.parameters)
    .filter((name) => !KEPT_PARAMETERS.includes(name)).map((name) => [name, undefined]));
}

function navigation(shell: Shell): HeaderPart {
  const links = VIEW_NAMES.filter((view) => !VIEWS[view].under).map((view) => ({ view, link: h("a", { class: "nav-link" }, VIEWS[view].title) }));
  const element = h("nav", { "aria-label": "Views" }, ...links.map(({ link }) => link));

  return {
    element,
    update(state) {
      for (const { view, link } of links) {
        link.href = shell.address(droppedParameters(state), view);
        if (view === (VIEWS[state.view].under ?? state.view))
          link.setAttribute("aria-current", "page");
        else
          link.removeAttribute("aria-current");
      }
    },
  };
}

export function header(shell: Shell): Header {
  const nav = navigation(shell);
  const find = findBox(shell);
  const picks = pickers(shell);
  const range = rangeControl(shell);
  const box = queryBox({
    label: "Query", api: shell.api,
    parameters: () => shell.state().parameters,
    onRun: (query) => { shell.go({ query, span: undefined, trace: undefined, zoom: undefined }); },
  });
  const controls = h("div", { class: "controls", role: "group", "aria-label": "Query and time range" }, picks.element, box.element, range.element);
  const forget = forgetButton(shell);
  const zone = zoneControl(shell);
  const home = h("a", { class: "brand", href: "./" }, "spanprof");
  const element = h("header", { class: "shell" },
    h("div", { class: "bar" }, home, nav.element, find.element, h("div", { class: "tools" }, forget.element, copyButton(shell), zone.element, themeControl())), controls);

  return {
    element,
    update(state) {
      const { hasQuery, hasRange } = VIEWS[state.view];

      nav.update(state);
      forget.update(state);
      zone.update(state);
      find.update(state);
      picks.element.hidden = box.element.hidden = !hasQuery;
      controls.hidden = !hasQuery && !hasRange;
      picks.update(state);
      range.update(state);
      box.set(state.parameters["query"] ?? "");
    },
    setApplications: (applications) => { picks.setApplications(applications); },
    setErrorColumn: (column) => { box.setErrorColumn(column); },
  };
}
