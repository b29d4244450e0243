/** Calls of the server under /api/v1, beside the page's own address. */
import type { WireProblem } from "../model/wire.ts";

/** What the server refused, in its words. */
export class Problem extends Error {
  readonly status: number;
  /** Of the query's fault, from 1, in bytes. */
  readonly column: number | null;
  /** Of a comparison: what is wrong is there. */
  readonly side: "left" | "right" | null;

  constructor(status: number, detail: string, { column, side }: Partial<WireProblem> = {}) {
    super(detail);
    this.status = status;
    this.column = column ?? null;
    this.side = side ?? null;
  }
}

/** Was the call given up because its view was left? */
export function isLeft(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

const TOKEN = "spanprof-token";

let token = kept();

/** A browser that keeps nothing of a site refuses its storage, too. */
function kept(): string | null {
  try {
    return sessionStorage.getItem(TOKEN);
  } catch {
    return null;
  }
}

export function setToken(text: string): void {
  token = text;
  try {
    sessionStorage.setItem(TOKEN, text);
  } catch {
    // It is known until the page is loaded again.
  }
}

export function hasToken(): boolean {
  return token !== null;
}

/** A header's characters are bytes: those of UTF-8, as the server was given. */
function inHeader(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

type Parameters = Readonly<Record<string, string | number | undefined>>;

export class Api {
  /** Where /api/v1 is: the page's address without the view's name. */
  private readonly base: URL;
  private waiting = 0;

  /** `onWaiting` is told how many answers are awaited, whenever it changes. */
  constructor(page: URL, private readonly onWaiting: (waiting: number) => void = () => undefined) {
    this.base = new URL("./", page);
  }

  /** The same calls, but nobody waits for their answers: completion, retries. */
  quiet(): Api {
    return new Api(this.base);
  }

  /** A JSON answer. Throws Problem, and DOMException "AbortError" where the view
   * was left before it came. Undefined parameters are left out. */
  async get<T>(path: string, parameters: Parameters, signal: AbortSignal): Promise<T> {
    return await this.awaited(async () => await read(await this.ask(path, parameters, { signal })) as T);
  }

  /** An answer of another kind, or of a call that changes something. */
  async fetch(path: string, parameters: Parameters, options: RequestInit): Promise<Response> {
    return await this.awaited(async () => await this.ask(path, parameters, options));
  }

  private async awaited<T>(run: () => Promise<T>): Promise<T> {
    this.onWaiting(++this.waiting);
    try {
      return await run();
    } finally {
      this.onWaiting(--this.waiting);
    }
  }

  private async ask(path: string, parameters: Parameters, options: RequestInit): Promise<Response> {
    const address = new URL(`api/v1/${path}`, this.base);
    const headers = new Headers(options.headers);

    for (const [name, value] of Object.entries(parameters))
      if (value !== undefined && value !== "")
        address.searchParams.set(name, String(value));
    if (token !== null)
      headers.set("Authorization", `Bearer ${inHeader(token)}`);
    const answer = await fetch(address, { ...options, headers }).catch((error: unknown) => { throw away(error); });
    if (!answer.ok)
      throw await problemOf(answer);
    return answer;
  }
}

function away(error: unknown): unknown {
  return error instanceof DOMException ? error : new Problem(0, "The server does not answer; it may be restarting.");
}

/** A connection may break, and a proxy may answer, in the middle of it. */
async function read(answer: Response): Promise<unknown> {
  try {
    return await answer.json();
  } catch (error) {
    throw error instanceof SyntaxError ? new Problem(answer.status, "What answers is no server of spanprof: the answer is no JSON.") : away(error);
  }
}

async function problemOf(answer: Response): Promise<Problem> {
  const text = await answer.text().catch(() => "");

  try {
    // Calls of Pyroscope's have a message in its place.
    const said = JSON.parse(text) as Partial<WireProblem> & { message?: string };
    return new Problem(answer.status, said.detail ?? said.message ?? text.slice(0, 300), said);
  } catch {
    return new Problem(answer.status, text.slice(0, 300) || answer.statusText || `The server answers ${answer.status}.`);
  }
}
