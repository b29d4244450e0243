/** Calls that take each other's place: the next one gives up the one before, so
 * that an older answer never comes over a newer one. */
export class Latest {
  private asking = new AbortController();

  /** `left` ends them all. */
  constructor(private readonly left: AbortSignal) {
    left.addEventListener("abort", () => { this.asking.abort(); });
  }

  /** The signal of the call that begins. */
  next(): AbortSignal {
    this.asking.abort();
    this.asking = new AbortController();
    if (this.left.aborted)
      this.asking.abort();
    return this.asking.signal;
  }
}
