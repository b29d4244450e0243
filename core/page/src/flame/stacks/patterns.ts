/** Matches function names against regular expressions in a worker. A pattern with
 * excessive backtracking is stopped and never blocks the page. */

/** Time limit, from the moment at which the worker starts to match a pattern. */
const BUDGET_MS = 2000;

const TOO_LONG = `Pattern stopped after ${BUDGET_MS / 1000} s: too much backtracking. Use a simpler pattern or plain text.`;
const NO_THREAD = "This browser does not allow pattern search here. Use plain text.";

/** Messages to the worker: first the names, then patterns. */
interface PatternRequest {
  readonly names?: readonly string[];
  readonly source?: string;
  readonly flags?: string;
}

/** Messages from the worker: an empty one when it begins, then a mask or an error. */
interface PatternResponse {
  readonly mask?: Uint8Array;
  readonly fault?: string;
}

/** The worker's script. It is sent as text, so it cannot use anything outside of this function. */
function workerMain(): void {
  let names: readonly string[] = [];

  onmessage = ({ data }: MessageEvent<PatternRequest>): void => {
    names = data.names ?? names;
    if (data.source === undefined)
      return;
    postMessage({});
    try {
      const regex = new RegExp(data.source, data.flags);
      postMessage({ mask: Uint8Array.from(names, (name) => regex.test(name) ? 1 : 0) });
    } catch (error) {
      postMessage({ fault: String(error) });
    }
  };
}

/** A mask of the functions that match, or an error message. */
export type Found = Uint8Array | string;

export class Patterns {
  private worker: Worker | null = null;
  private names: readonly string[] | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private found: ((found: Found) => void) | null = null;

  /** Starts the worker while the user still types a pattern. Cancels a running search
   * without calling its `found`. */
  prepare(names: readonly string[]): void {
    if (this.found || this.names !== names)
      this.stop();
    try {
      this.worker ??= this.start(names);
    } catch {
      // Ignore the error here: match() reports it.
    }
  }

  match(names: readonly string[], regex: RegExp, found: (found: Found) => void): void {
    this.prepare(names);
    if (!this.worker) {
      queueMicrotask(() => { found(NO_THREAD); });
      return;
    }
    this.found = found;
    this.worker.postMessage({ source: regex.source, flags: regex.flags } satisfies PatternRequest);
  }

  /** Stops the worker and a running search. */
  stop(): void {
    clearTimeout(this.timer);
    this.worker?.terminate();
    this.worker = this.found = this.names = null;
  }

  private start(names: readonly string[]): Worker {
    const address = URL.createObjectURL(new Blob([`(${workerMain.toString()})()`], { type: "text/javascript" }));
    const worker = new Worker(address);

    URL.revokeObjectURL(address);
    this.names = names;
    worker.onmessage = ({ data }: MessageEvent<PatternResponse>) => {
      if (data.mask ?? data.fault)
        this.finish(data.mask ?? data.fault!);
      else
        this.timer = setTimeout(() => { this.finish(TOO_LONG); }, BUDGET_MS);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      this.finish(NO_THREAD);
    };
    worker.postMessage({ names } satisfies PatternRequest);
    return worker;
  }

  private finish(answer: Found): void {
    const { found } = this;

    clearTimeout(this.timer);
    this.found = null;
    if (typeof answer === "string")
      this.stop();
    found?.(answer);
  }
}
