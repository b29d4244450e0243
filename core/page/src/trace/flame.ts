/** The flame graph below the waterfall: of the whole trace, or of the selected span with
 * its child spans. */
import type { Change } from "../model/state.ts";
import { rangeChange } from "../model/range.ts";
import { h } from "../parts/dom.ts";
import { nameText } from "../spans/cells.ts";
import { withMargin } from "../spans/links.ts";
import { StacksPlace } from "../spans/stacks.ts";
import type { View } from "../views/view.ts";
import type { Forest } from "./forest.ts";

/** Spans with more descendants are shown alone, since the length of addresses is
 * limited. */
const DESCENDANTS_MAX = 200;
/** A key that is held down selects many spans, of which only the last is loaded. */
const PAUSE_MS = 200;

type Shown = "trace" | "span";

export class TraceFlame {
  readonly element: HTMLElement;
  private readonly heading = h("h2", { id: "trace-flame" });
  private readonly place: StacksPlace;
  private readonly range: Change;
  private readonly buttons: Readonly<Record<Shown, HTMLButtonElement>>;
  /** The user's choice. By default, the selected span is shown, if any. */
  private pinned: Shown | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** The key of the loaded stacks. Prevents a second request for the same ones. */
  private loaded = "";

  /** `selected` is the index of the selected branch, and -1 if the address selects none. */
  constructor(private readonly view: View, private readonly traceId: string, private readonly forest: Forest, private readonly valueName: string, private selected: number) {
    const starts = forest.branches.map(({ span }) => span.startNs), ends = forest.branches.map(({ span }) => span.startNs + span.durationNs);
    const fromMs = Math.floor(starts.reduce((least, each) => Math.min(least, each), Infinity) / 1e6);
    const untilMs = Math.ceil(ends.reduce((most, each) => Math.max(most, each), 0) / 1e6);
    const button = (shown: Shown, text: string): HTMLButtonElement => h("button", { type: "button", onclick: () => { this.choose(shown); } }, text);

    this.range = rangeChange(withMargin({ fromMs, untilMs }));
    const { of } = view.state.parameters;
    this.pinned = of === "trace" || of === "span" ? of : undefined;
    this.place = new StacksPlace(view);
    this.buttons = { trace: button("trace", "Whole trace"), span: button("span", "Selected span") };
    this.element = h("section", { "aria-labelledby": "trace-flame" },
      h("div", { class: "tools-row" }, this.heading, h("span", { class: "joined", role: "group", "aria-label": "Flame graph of" }, this.buttons.trace, this.buttons.span)),
      this.place.element);
    this.load();
  }

  /** Shows the span, unless the user has chosen the whole trace. */
  select(index: number): void {
    this.selected = index;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { this.load(); }, PAUSE_MS);
  }

  private choose(shown: Shown): void {
    this.selected = Math.max(0, this.selected);
    this.pinned = shown;
    this.view.updateAddress({ of: shown });
    this.load();
  }

  private load(): void {
    const shown = this.pinned ?? (this.selected < 0 ? "trace" : "span");
    const { spanId, ids, text } = this.spanPart();
    const key = shown === "trace" ? "trace" : spanId;

    this.heading.textContent = shown === "trace" ? `${this.valueName} of the whole trace` : text;
    for (const each of ["trace", "span"] as const)
      this.buttons[each].setAttribute("aria-pressed", String(each === shown));
    if (this.view.signal.aborted || key === this.loaded)
      return;
    this.loaded = key;
    void this.place.load({
      type: this.view.state.parameters["type"], ...shown === "trace" ? { trace: this.traceId } : { span: ids }, ...this.range,
    }, shown === "trace" ? `trace-${this.traceId}` : `span-${spanId}`);
  }

  private spanPart(): { spanId: string; ids: string; text: string } {
    const at = Math.max(0, this.selected);
    const { span: { spanId, name }, descendants: below } = this.forest.branches[at]!;
    const isAlone = below === 0 || below > DESCENDANTS_MAX;
    const branches = this.forest.branches.slice(at, isAlone ? at + 1 : at + 1 + below);

    return {
      spanId, ids: branches.map(({ span }) => span.spanId).join(","),
      text: `${isAlone && below > 0 ? "Self " : ""}${this.valueName} of ${nameText(name)}${isAlone ? "" : " and its child spans"}`,
    };
  }
}
