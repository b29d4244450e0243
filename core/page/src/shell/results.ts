/** Shows one view after the other. The results of a view stay, dimmed, until the new results
 * of the same view have arrived. */
export class Results {
  private old: HTMLElement | null = null;

  /** `onReplaced` is called when new results have replaced dimmed ones. */
  constructor(private readonly place: HTMLElement, private readonly onReplaced: () => void) {}

  /** Shows a view that is loading. */
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
    // The new view is the first one, so that ids refer to its elements. Moving the old view
    // would change its scroll positions.
    this.place.prepend(element);
    while (element.nextElementSibling && element.nextElementSibling !== shown)
      element.nextElementSibling.remove();
  }

  /** Removes the dimmed results, because the view has the new ones or an error, which a screen
   * reader announces. */
  loaded(hasFailed = this.place.querySelector(".fault.notice") !== null): void {
    if (!this.old)
      return;
    this.old.remove();
    this.old = null;
    if (!hasFailed)
      this.onReplaced();
  }
}
