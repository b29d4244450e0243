/** Error messages that replace a view or appear above it, and retries. */
import { isAborted, Problem, type Api } from "../parts/api.ts";
import { h, safeText } from "../parts/dom.ts";
import { setToken } from "../parts/token.ts";

/** Asks the user for the server's token and then calls `onToken`. `wasRejected` means that the
 * server refused the previous token. */
export function tokenForm(wasRejected: boolean, onToken: () => void): HTMLElement {
  const field = h("input", { type: "password", name: "token", autocomplete: "current-password", required: true });
  const form = h("form", { class: "token notice" },
    h("h2", {}, "Enter the server\u2019s token"),
    wasRejected && h("p", { class: "fault", role: "alert" }, "The server rejected the token."),
    h("p", {}, "The token is the value of the server\u2019s option --token, or the first line of the file that --token-file names. This browser stores the token until you click \u201cForget token\u201d."),
    h("label", {}, "Token ", field), " ", h("button", {}, "Continue"));

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    setToken(field.value);
    onToken();
  });
  return form;
}

export function errorText(error: unknown): HTMLElement {
  const text = error instanceof Problem ? error.message : `Error in this page: ${String(error)}`;

  return h("p", { class: "fault notice", role: "alert" }, safeText(text), isUnavailable(error) && " Retrying\u2026");
}

const FIRST_MS = 500;
const LONGEST_MS = 5000;

/** Waits until the server sends any response. Returns false if aborted. */
export async function waitForServer(api: Api, signal: AbortSignal): Promise<boolean> {
  const quiet = api.background();

  for (let wait = FIRST_MS; !signal.aborted; wait = Math.min(LONGEST_MS, wait * 1.5)) {
    await new Promise((resolve) => setTimeout(resolve, wait));
    try {
      await quiet.get("status/buildinfo", {}, signal);
      break;
    } catch (error) {
      if (!(error instanceof Problem) || !isUnavailable(error))
        break;
    }
  }
  return !signal.aborted;
}

/** Whether the server is unavailable: no response, or a proxy's "bad gateway". */
export function isUnavailable(error: unknown): boolean {
  return error instanceof Problem && (error.status === 0 || error.status === 502);
}

/** Loads a part of a view: `load` requests the data and shows it. An error replaces
 * only this part of the view. If the server is unavailable, waits for it and tries
 * again. Returns undefined after an error or if aborted. */
export async function loadPart<T>(view: { api: Api; showError: (error: unknown) => void }, signal: AbortSignal, load: () => Promise<T>,
  showError: (fault: HTMLElement, error: unknown) => void): Promise<T | undefined> {
  do
    try {
      return await load();
    } catch (error) {
      if (signal.aborted || isAborted(error))
        break;
      if (error instanceof Problem && error.status === 401) {
        view.showError(error);
        break;
      }
      showError(errorText(error), error);
      if (!isUnavailable(error))
        break;
    }
  while (await waitForServer(view.api, signal));
  return undefined;
}
