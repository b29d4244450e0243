/** One side of a comparison: its query and range, and the input fields for them, which
 * work like those in the page's header. */
import type { ProfileSelection } from "../model/choice.ts";
import { moved, rangeChange, rangeOf, type Range } from "../model/range.ts";
import { steppedPast, type RangePair } from "../model/range_pair.ts";
import type { Change, State } from "../model/state.ts";
import type { WireApplication } from "../model/wire.ts";
import { Problem, isAborted } from "../parts/api.ts";
import { h } from "../parts/dom.ts";
import { queryBox } from "../query/box.ts";
import type { Shell } from "../shell/header.ts";
import { pickers } from "../shell/pickers.ts";
import { rangeControl } from "../shell/range.ts";
import type { View } from "../views/view.ts";
import { viewFor } from "./empty.ts";
import { rangeIn } from "./links.ts";

export type SideName = "left" | "right";

export const TITLES: Readonly<Record<SideName, string>> = { left: "Baseline", right: "Comparison" };

/** Returns the name of a parameter of a side: "left" and "from" become "leftFrom". */
function parameter(side: SideName, name: string): string {
  return `${side}${name[0]!.toUpperCase()}${name.slice(1)}`;
}

const SIDE_PARAMETERS: readonly string[] = ["query", "from", "until"];

/** Returns the selection of a side. Its default is the parameter without a side: "from"
 * for "leftFrom". */
export function sideOf(state: State, side: SideName): ProfileSelection {
  const value = (name: string): string | undefined => state.parameters[parameter(side, name)] ?? state.parameters[name];

  return { query: value("query"), from: value("from"), until: value("until"), type: state.parameters["type"], span: state.parameters[parameter(side, "span")] };
}

/** Converts a change of a side's fields to a change of the address. Both sides share the type. */
export function sideChange(side: SideName, change: Change): Change {
  return Object.fromEntries(Object.entries(change).filter(([name]) => name !== "live")
    .map(([name, value]) => [SIDE_PARAMETERS.includes(name) ? parameter(side, name) : name, value]));
}

export function rangeOfSide(state: State, side: SideName): Range | null {
  const { from, until } = sideOf(state, side);

  return rangeOf(from, until);
}

/** Whether both sides select the same profiles, apart from the time. */
export function isSameQuery(state: State): boolean {
  const left = sideOf(state, "left"), right = sideOf(state, "right");

  return (left.query ?? "") === (right.query ?? "") && left.span === right.span;
}

/** The change to ranges of both sides. */
export function pairChange({ left, right }: RangePair): Change {
  return { ...sideChange("left", rangeChange(left)), ...sideChange("right", rangeChange(right)) };
}

/** The ranges for an address that has the same query and no ranges of the sides: the
 * range and the one before it. Returns null for other addresses. */
export function defaultRanges(state: State): Change | null {
  const isChosen = (["left", "right"] as const).some((side) => ["from", "until"].some((name) => state.parameters[parameter(side, name)] !== undefined));
  const right = rangeIn(state);

  return isChosen || !right || !isSameQuery(state) ? null : pairChange({ left: moved(right, -1), right });
}

/** The selection of a side as the server gets it. The server includes both ends, so the
 * side that ends where the other one begins gets an earlier end. */
export function requestOf(state: State, side: SideName): ProfileSelection {
  const own = rangeOfSide(state, side), other = rangeOfSide(state, side === "left" ? "right" : "left");

  return { ...sideOf(state, side), ...own && other && own.untilMs === other.fromMs && own.fromMs < own.untilMs ? { until: rangeChange({ ...own, untilMs: own.untilMs - 1 }).until } : {} };
}

/** The parameters of /api/v1/diff. */
export function diffParametersOf(left: ProfileSelection, right: ProfileSelection): Record<string, string | undefined> {
  const parameters: Record<string, string | undefined> = {};

  for (const [side, selection] of [["left", left], ["right", right]] as const)
    for (const [name, value] of Object.entries(selection) as [string, string | undefined][])
      parameters[parameter(side, name)] = value;
  return parameters;
}

export function diffParameters(state: State): Record<string, string | undefined> {
  return diffParametersOf(requestOf(state, "left"), requestOf(state, "right"));
}

/** The change that swaps both sides. */
export function swapped(state: State): Change {
  const change: Record<string, string | undefined> = {};

  for (const name of [...SIDE_PARAMETERS, "span"]) {
    const left = sideOf(state, "left")[name as keyof ProfileSelection], right = sideOf(state, "right")[name as keyof ProfileSelection];
    change[parameter("left", name)] = right;
    change[parameter("right", name)] = left;
  }
  return change;
}

/** A view with the selection of one side. Its changes apply to this side. */
export function viewOfSide(view: View, side: SideName): View {
  return viewFor(view, sideOf(view.state, side), (change) => sideChange(side, change));
}

/** The shell for the controls of one side. */
function shellOf(view: View, side: SideName, reload: () => void): Shell {
  const state = (): State => {
    const { query, from, until, type } = sideOf(view.state, side);
    const entries = Object.entries({ query, from, until, type }).filter((each): each is [string, string] => each[1] !== undefined);
    return { view: view.state.view, parameters: Object.fromEntries(entries) };
  };

  return {
    api: view.api, state,
    // Presets omit default times. Write them to the address, since "from" would replace
    // an omitted "leftFrom".
    go: (change) => {
      const defaults: Change = "from" in change ? { from: change["from"] ?? "now-1h", until: change["until"] ?? "now" } : {};
      view.go(sideChange(side, { ...change, ...defaults }));
    },
    address: (change) => view.address(sideChange(side, change)),
    refresh: reload,
    announce: (text) => { view.announce(text); },
    stepped: (range, direction) => {
      const other = rangeOfSide(view.state, side === "left" ? "right" : "left");
      return other && isSameQuery(view.state) ? steppedPast(range, direction, other) : moved(range, direction);
    },
  };
}

export interface SideFields {
  readonly element: HTMLElement;
  setErrorColumn(column: number | null): void;
}

/** `reload` reloads the data of the side. */
export function sideFields(view: View, side: SideName, title: string, again: () => void): SideFields {
  const shell = shellOf(view, side, again);
  const picks = pickers(shell), range = rangeControl(shell);
  const box = queryBox({
    label: `Query, ${title.toLowerCase()}`, api: view.api, parameters: () => shell.state().parameters,
    onRun: (query) => { shell.go({ query, zoom: undefined }); },
  });

  picks.update(shell.state());
  range.update(shell.state());
  box.set(shell.state().parameters["query"] ?? "");
  view.api.background().get<{ applications: WireApplication[] }>("applications", { from: shell.state().parameters["from"], until: shell.state().parameters["until"] }, view.signal)
    .then(({ applications }) => { picks.setApplications(applications); }, (error: unknown) => {
      // Ignore errors of the server: the side's own request fails with the same error,
      // and the side shows it.
      if (!(error instanceof Problem) && !isAborted(error))
        throw error;
    });
  return {
    element: h("div", { class: "controls side", role: "group", "aria-label": title }, h("strong", { class: `side-name ${side}` }, title),
      picks.element, range.element, box.element),
    setErrorColumn: (column) => { box.setErrorColumn(column); },
  };
}
