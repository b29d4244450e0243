/** Calls of the server under /api/v1, beside the page's own address. */
import type { WireProblem } from "../model/wire.ts";

/** What the server refused, in its words. */
export class Problem extends Error {
  readonly status: number;
  /** Of the query's fault, from 1, in bytes. */
  readonly column: number | null;

  constructor(status: number, detail: string, column: number | null = null) {
    super(detail);
    this.status = status;
    this.column = column;
  }
}

const TOKEN = "spanprof-token";

export function setToken(token: string): void {
  sessionStorage.setItem(TOKEN, token);
}

export class Api {
  /** Where /api/v1 is: the page's address without the view's name. */
  private readonly base: URL;

  constructor(page: URL) {
    this.base = new URL("./", page);
  }

  /** A JSON answer. Throws Problem, and DOMException "AbortError" where the view
   * was left before it came. Undefined parameters are left out. */
  async get<T>(path: string, parameters: Readonly<Record<string, string | number | undefined>>, signal: AbortSignal): Promise<T> {
    const answer = await this.fetch(path, parameters, { signal });

    return await answer.json() as T;
  }

  async fetch(path: string, parameters: Readonly<Record<string, string | number | undefined>>, options: RequestInit): Promise<Response> {
    const address = new URL(`api/v1/${path}`, this.base);
    const token = sessionStorage.getItem(TOKEN);
    const headers = new Headers(options.headers);

    for (const [name, value] of Object.entries(parameters))
      if (value !== undefined && value !== "")
        address.searchParams.set(name, String(value));
    if (token !== null)
      headers.set("Authorization", `Bearer ${token}`);
    const answer = await fetch(address, { ...options, headers }).catch((error: unknown) => {
      if (error instanceof DOMException)
        throw error;
      throw new Problem(0, "The server does not answer; it may be restarting.");
    });
    if (!answer.ok)
      throw await problemOf(answer);
    return answer;
  }
}

async function problemOf(answer: Response): Promise<Problem> {
  const text = await answer.text();

  try {
    const said = JSON.parse(text) as WireProblem;
    return new Problem(answer.status, said.detail, said.column ?? null);
  } catch {
    return new Problem(answer.status, text.slice(0, 300) || answer.statusText);
  }
}
