/** The page of an exported file, without a server: the flame graph, the span names
 * and the comments of the profiles. The display options are in the address's
 * fragment. */
import { flamePanel, type Look, type Panel } from "./flame/panel.ts";
import { rangeText, type Origin } from "./export/origin.ts";
import { fileHead, fileNotes } from "./file/head.ts";
import { spanTable, type SpanTable } from "./file/spans.ts";
import { pairOfSpan, sideOfSpan, spanOf } from "./file/side.ts";
import { treeOf, treeOfPair, type Tree } from "./model/tree.ts";
import type { WireFile } from "./model/wire.ts";
import { h, shown } from "./parts/dom.ts";

/** The displayed side of a comparison. */
type Shows = "diff" | "now" | "base";
const SHOWS: readonly (readonly [Shows, string])[] = [["diff", "Difference"], ["base", "Baseline"], ["now", "Comparison"]];

type Parameters = Partial<Record<string, string>>;

/** The parameters are in the fragment, the only part of a file: address that a page can change. */
function readHash(): Parameters {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

function writeHash(parameters: Parameters): void {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => (entry[1] ?? "") !== "");
  const query = new URLSearchParams(given).toString();

  history.replaceState(null, "", query === "" ? location.href.replace(/#.*$/s, "") : `#${query}`);
}

/** A change that removes each of the parameters. */
function without(parameters: Parameters): Look {
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
    this.parameters = this.said();
    this.table = spanTable(file, (span) => { this.turn({ span }); });
    this.buttons = file.base ? SHOWS.map(([name, text]) =>
      h("button", { type: "button", onclick: () => { this.turn({ side: name }); }, "data-side": name }, text)) : [];
    this.panel = flamePanel({
      tree: this.tree(), look: this.look(), title: shown(file.title, 100), origin: () => this.origin(),
      onLook: (look: Look) => { this.note(look); },
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
      this.parameters = this.said();
      this.mark();
      this.panel.setLook({ ...without(before), ...this.look() });
      this.panel.setTree(this.tree());
    });
  }

  /** Without a fragment, the display options of the export apply. */
  private said(): Parameters {
    return location.hash.length > 1 ? readHash() : { ...this.file.look };
  }

  /** The graph compares values by default, like the table above it. */
  private look(): Look {
    return { scale: "values", ...this.parameters };
  }

  private shows(): Shows {
    const side = this.parameters["side"];

    return this.file.base ? SHOWS.find(([name]) => name === side)?.[0] ?? "diff" : "now";
  }

  private origin(): Origin {
    const { now, origin, title } = this.file;
    const range = now.fromMs > 0 ? { fromMs: now.fromMs, untilMs: now.untilMs } : null;

    return { says: origin?.says ?? [title, ...range ? [rangeText(range)] : []], link: origin?.link ?? "", range, profile: null };
  }

  private tree(): Tree {
    const { now, base } = this.file;
    const span = spanOf(this.file, this.parameters["span"]);
    const shows = this.shows();

    if (base && shows === "diff")
      return span === undefined ? treeOfPair(base.tree, now.tree) : pairOfSpan(base, now, span);
    const side = base && shows === "base" ? base : now;
    return treeOf(span === undefined ? side.tree : sideOfSpan(side, span));
  }

  private note(change: Parameters): void {
    this.parameters = { ...this.parameters, ...change };
    writeHash(this.parameters);
  }

  /** Selects another span or side, which has other stacks. */
  private turn(change: Parameters): void {
    this.note(change);
    this.mark();
    this.panel.setTree(this.tree());
  }

  private mark(): void {
    this.table.mark(spanOf(this.file, this.parameters["span"]));
    for (const button of this.buttons)
      button.setAttribute("aria-pressed", String(button.dataset["side"] === this.shows()));
  }
}

export function showFile(place: HTMLElement, file: WireFile): void {
  document.title = `${shown(file.title, 100)} \u2013 spanprof`;
  new FilePage(place, file);
}
