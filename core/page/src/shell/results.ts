/** Shows one view after the other. The results of a view stay, dimmed, until the new results
 * of the same view have arrived. */
export class Results {
  private old: HTMLElement | null = null;

  /** `onReplaced` is called when new results have replaced dimmed ones. */
  constructor(private readonly place: HTMLElement, private readonly onReplaced: () => void) {}

  /** Adds a view whose results have not arrived yet. */
  load(element: HTMLElement): void {
    const shown = this.old ?? this.place.firstElementChild;

    if (!(shown instanceof HTMLElement) || shown.className !== element.className || shown.childElementCount === 0) {
      this.old = null;
      this.place.replaceChildren(element);
      return;
    }
    shown.inert = true;
    shown.ariaBusy = "true";
    this.old = shown;
    // The new view precedes the old one, so that an id which both contain refers to the new
    // view. The old view is not moved, because that would change its scroll positions.
    this.place.prepend(element);
    while (element.nextElementSibling && element.nextElementSibling !== shown)
      element.nextElementSibling.remove();
  }

  /** Removes the dimmed results, because the view has new results or an error. Does not call
   * `onReplaced` for an error, because the screen reader announces the error itself. */
  loaded(hasFailed = this.place.querySelector(".fault.notice") !== null): void {
    if (!this.old)
      return;
    this.old.remove();
    this.old = null;
    if (!hasFailed)
      this.onReplaced();
  }
}
