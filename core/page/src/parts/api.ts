/** Requests to the server's API, at api/v1/ relative to the page. */
import type { WireProblem } from "../model/wire.ts";
import { token } from "./token.ts";

/** An error response of the server, with its message. */
export class Problem extends Error {
  readonly status: number;
  /** Position of the query's error, in bytes from 1; null if the query has none. */
  readonly column: number | null;
  /** The side of a comparison that has the error; null if not known. */
  readonly side: "left" | "right" | null;

  constructor(status: number, detail: string, { column, side }: Partial<WireProblem> = {}) {
    super(detail);
    this.status = status;
    this.column = column ?? null;
    this.side = side ?? null;
  }
}

/** Whether the error means that the request was aborted, because its view is no longer
 * shown. */
export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** Encodes a text in UTF-8, one character for each byte, as headers require. */
function headerText(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

type Parameters = Readonly<Record<string, string | number | undefined>>;

export class Api {
  /** The page's address without the view's name. */
  private readonly base: URL;
  private pending = 0;

  /** `onPending` receives the number of pending requests whenever it changes. */
  constructor(page: URL, private readonly onPending: (waiting: number) => void = () => undefined) {
    this.base = new URL("./", page);
  }

  /** Returns an API whose requests do not count as pending: for completions and
   * retries. */
  background(): Api {
    return new Api(this.base);
  }

  /** Fetches a JSON response. Throws Problem, or a DOMException "AbortError" if the
   * signal is aborted. Omits undefined parameters. */
  async get<T>(path: string, parameters: Parameters, signal: AbortSignal): Promise<T> {
    return await this.countPending(async () => await parseJson(await this.request(path, parameters, { signal })) as T);
  }

  /** Sends any other request. Throws like get(). */
  async fetch(path: string, parameters: Parameters, options: RequestInit): Promise<Response> {
    return await this.countPending(async () => await this.request(path, parameters, options));
  }

  private async countPending<T>(run: () => Promise<T>): Promise<T> {
    this.onPending(++this.pending);
    try {
      return await run();
    } finally {
      this.onPending(--this.pending);
    }
  }

  private async request(path: string, parameters: Parameters, options: RequestInit): Promise<Response> {
    const address = new URL(`api/v1/${path}`, this.base);
    const headers = new Headers(options.headers);

    for (const [name, value] of Object.entries(parameters))
      if (value !== undefined && value !== "")
        address.searchParams.set(name, String(value));
    const authToken = token();
    if (authToken !== null)
      headers.set("Authorization", `Bearer ${headerText(authToken)}`);
    const answer = await fetch(address, { ...options, headers }).catch((error: unknown) => { throw networkError(error); });
    if (!answer.ok)
      throw await problemOf(answer);
    return answer;
  }
}

function networkError(error: unknown): unknown {
  return error instanceof DOMException ? error : new Problem(0, "The server is not responding. It may be restarting.");
}

/** Parses a JSON response. Throws Problem if the connection breaks during the body, or
 * if the body is not JSON, for example because a proxy sent it. */
async function parseJson(answer: Response): Promise<unknown> {
  try {
    return await answer.json();
  } catch (error) {
    throw error instanceof SyntaxError ? new Problem(answer.status, "The response is not JSON, so it is not from a spanprof server.") : networkError(error);
  }
}

async function problemOf(answer: Response): Promise<Problem> {
  const text = await answer.text().catch(() => "");

  try {
    // Pyroscope's API has `message` instead of `detail`.
    const body = JSON.parse(text) as Partial<WireProblem> & { message?: string };
    return new Problem(answer.status, body.detail ?? body.message ?? text.slice(0, 300), body);
  } catch {
    return new Problem(answer.status, text.slice(0, 300) || answer.statusText || `The server responded with status ${answer.status}.`);
  }
}
