/** Refreshes a view periodically, one refresh at a time, and not while the page is hidden. */
import { LIVE_S } from "./range.ts";

export class Live {
  private on = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly refresh: () => Promise<void>) {
    document.addEventListener("visibilitychange", () => { this.schedule(); });
  }

  set(on: boolean): void {
    this.on = on;
    this.schedule();
  }

  private schedule(): void {
    clearTimeout(this.timer);
    if (this.on && !document.hidden)
      this.timer = setTimeout(() => { void this.run(); }, LIVE_S * 1000);
  }

  private async run(): Promise<void> {
    await this.refresh();
    this.schedule();
  }
}
