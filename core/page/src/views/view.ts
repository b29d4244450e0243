/** What a view is given, and what it gives back. */
import type { Change, State, ViewName } from "../model/state.ts";
import type { Api } from "../parts/api.ts";

export interface View {
  /** Empty; the view's own to fill. */
  readonly element: HTMLElement;
  readonly state: State;
  readonly api: Api;
  /** Aborted when another view, or this one with other parameters, follows. */
  readonly signal: AbortSignal;
  /** Go on to another state: a step of the browser's history. */
  go(change: Change, view?: ViewName): void;
  /** Go on to another state in this one's place: no step of the history. */
  replace(change: Change, view?: ViewName): void;
  /** Note a change in the address without showing anything anew: where a flame
   * graph is zoomed, what is searched. A step where what is seen is another. */
  note(change: Change): void;
  /** The address of a state, for links: opens in a new tab, too. A link that is
   * followed here is a go(). */
  address(change: Change, view?: ViewName): string;
  /** What is seen, for the window's title: "GET /cart"; else the query is. */
  title(text: string): void;
  /** How the view looks at the server again, with what is shown staying until
   * then: live views and the button call it. Else the view is shown anew. */
  onRefresh(again: () => Promise<void>): void;
  /** What a part of the view was refused, where the whole page has to answer: by
   * asking for a token. */
  failed(error: unknown): void;
  /** Tell something that happened to who does not see it. */
  say(text: string): void;
}

/** Fills the element; what it throws is shown in its place. */
export type Show = (view: View) => Promise<void>;
