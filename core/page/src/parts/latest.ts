/** Requests that replace each other: each new one aborts the one before, so that
 * an old response never overwrites a newer one. */
export class LatestRequest {
  private current = new AbortController();

  /** If `parent` is aborted, all requests are. */
  constructor(private readonly parent: AbortSignal) {
    parent.addEventListener("abort", () => { this.current.abort(); });
  }

  /** Aborts the current request and returns the signal for the next one. */
  next(): AbortSignal {
    this.current.abort();
    this.current = new AbortController();
    if (this.parent.aborted)
      this.current.abort();
    return this.current.signal;
  }
}
