/** Requests that replace each other: each new one aborts the one before, so that
 * an old response never overwrites a newer one. */
export class Latest {
  private asking = new AbortController();

  /** `left` aborts all of them. */
  constructor(private readonly left: AbortSignal) {
    left.addEventListener("abort", () => { this.asking.abort(); });
  }

  /** Aborts the current request and returns the signal for the next one. */
  next(): AbortSignal {
    this.asking.abort();
    this.asking = new AbortController();
    if (this.left.aborted)
      this.asking.abort();
    return this.asking.signal;
  }
}
