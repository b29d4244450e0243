/** The interface between the page and its views. */
import type { Change, State, ViewName } from "../model/state.ts";
import type { Api } from "../parts/api.ts";

export interface View {
  /** An empty element for the view to fill. */
  readonly element: HTMLElement;
  readonly state: State;
  readonly api: Api;
  /** Aborted when the page shows another state. */
  readonly signal: AbortSignal;
  /** Shows another state and adds it to the browser's history. */
  go(change: Change, view?: ViewName): void;
  /** Shows another state, which replaces this one in the browser's history. */
  replace(change: Change, view?: ViewName): void;
  /** Writes a change to the address without showing the view again, for example a
   * flame graph's zoom. Adds to the history if the change selects other data. */
  updateAddress(change: Change): void;
  /** The address of a state, for links. A plain click on such a link acts like
   * go(). */
  address(change: Change, view?: ViewName): string;
  /** Sets the window's title, for example "GET /cart". The default is the query. */
  title(text: string): void;
  /** Registers the function that live views and the refresh button call. It reloads the
   * data, and the old data stays until the new data has arrived. Without this function,
   * a refresh shows the whole view again. */
  onRefresh(reload: () => Promise<void>): void;
  /** Shows an error instead of the view. For a missing token, asks for the token. */
  showError(error: unknown): void;
  /** Announces a text to screen readers. */
  announce(text: string): void;
}

/** Fills the view's element. If it throws, the error is shown instead. */
export type Show = (view: View) => Promise<void>;
