/** The page of an exported file, without a server: the flame graph, the span names
 * and the comments of the profiles. The display options are in the address's
 * fragment. */
import { flamePanel, type DisplayOptions, type Panel } from "./flame/panel.ts";
import { rangeText, type Origin } from "./export/origin.ts";
import { fileHead, fileNotes } from "./file/head.ts";
import { spanTable, type SpanTable } from "./file/spans.ts";
import { pairOfSpan, sideOfSpan, spanOf } from "./file/side.ts";
import { treeOf, treeOfPair, type Tree } from "./model/tree.ts";
import type { WireFile } from "./model/wire.ts";
import { h, safeText } from "./parts/dom.ts";

/** The displayed side of a comparison. */
type SideName = "diff" | "now" | "base";
const SIDES: readonly (readonly [SideName, string])[] = [["diff", "Difference"], ["base", "Baseline"], ["now", "Comparison"]];

type Parameters = Partial<Record<string, string>>;

/** Reads the parameters from the fragment, since a page can change no other part of a
 * "file:" address. */
function readHash(): Parameters {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

function writeHash(parameters: Parameters): void {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => (entry[1] ?? "") !== "");
  const query = new URLSearchParams(given).toString();

  history.replaceState(null, "", query === "" ? location.href.replace(/#.*$/s, "") : `#${query}`);
}

/** A change that removes each of the parameters. */
function without(parameters: Parameters): DisplayOptions {
  return Object.fromEntries(Object.keys(parameters).map((name) => [name, ""]));
}

class FilePage {
  private readonly file: WireFile;
  private readonly panel: Panel;
  private readonly table: SpanTable;
  private readonly buttons: HTMLButtonElement[];
  private parameters: Parameters;

  constructor(place: HTMLElement, file: WireFile) {
    this.file = file;
    this.parameters = this.readParameters();
    this.table = spanTable(file, (span) => { this.select({ span }); });
    this.buttons = file.base ? SIDES.map(([name, text]) =>
      h("button", { type: "button", onclick: () => { this.select({ side: name }); }, "data-side": name }, text)) : [];
    this.panel = flamePanel({
      tree: this.tree(), display: this.display(), title: safeText(file.title, 100), origin: () => this.origin(),
      onDisplayChange: (display: DisplayOptions) => { this.updateParameters(display); },
    });
    place.append(h("main", { class: "file" },
      fileHead(file),
      this.buttons.length > 0 && h("div", { class: "file-sides", role: "group", "aria-label": "Displayed side" }, ...this.buttons),
      this.table.element,
      h("h2", { class: "file-stacks" }, "Stacks"), this.panel.element,
      fileNotes(file)));
    this.mark();
    addEventListener("hashchange", () => {
      const before = this.parameters;
      this.parameters = this.readParameters();
      this.mark();
      this.panel.setDisplay({ ...without(before), ...this.display() });
      this.panel.setTree(this.tree());
    });
  }

  /** Without a fragment, the display options of the export apply. */
  private readParameters(): Parameters {
    return location.hash.length > 1 ? readHash() : { ...this.file.display };
  }

  /** The graph compares values by default, like the table above it. */
  private display(): DisplayOptions {
    return { scale: "values", ...this.parameters };
  }

  private side(): SideName {
    const side = this.parameters["side"];

    return this.file.base ? SIDES.find(([name]) => name === side)?.[0] ?? "diff" : "now";
  }

  private origin(): Origin {
    const { now, origin } = this.file;
    const range = now.fromMs > 0 ? { fromMs: now.fromMs, untilMs: now.untilMs } : null;

    return { lines: origin?.says ?? (range ? [rangeText(range)] : []), link: origin?.link ?? "", range, profile: null, functionLines: null };
  }

  private tree(): Tree {
    const { now, base } = this.file;
    const span = spanOf(this.file, this.parameters["span"]);
    const shows = this.side();

    if (base && shows === "diff")
      return span === undefined ? treeOfPair(base.tree, now.tree) : pairOfSpan(base, now, span);
    const side = base && shows === "base" ? base : now;
    return treeOf(span === undefined ? side.tree : sideOfSpan(side, span));
  }

  private updateParameters(change: Parameters): void {
    this.parameters = { ...this.parameters, ...change };
    writeHash(this.parameters);
  }

  /** Selects another span or side, which has other stacks. */
  private select(change: Parameters): void {
    this.updateParameters(change);
    this.mark();
    this.panel.setTree(this.tree());
  }

  private mark(): void {
    this.table.mark(spanOf(this.file, this.parameters["span"]));
    for (const button of this.buttons)
      button.setAttribute("aria-pressed", String(button.dataset["side"] === this.side()));
  }
}

export function showFile(place: HTMLElement, file: WireFile): void {
  document.title = `${safeText(file.title, 100)} \u2013 spanprof`;
  new FilePage(place, file);
}
