/** The page as a file of its own: flame graph, span names and what the profiles
 * say of themselves; no server. How it is looked at stands behind the "#". */
import { flamePanel, type Look, type Panel } from "./flame/panel.ts";
import { rangeText, type Origin } from "./export/origin.ts";
import { fileHead, fileNotes } from "./file/head.ts";
import { spanTable, type SpanTable } from "./file/spans.ts";
import { pairOfSpan, sideOfSpan, spanOf } from "./file/side.ts";
import { treeOf, treeOfPair, type Tree } from "./model/tree.ts";
import type { WireFile } from "./model/wire.ts";
import { h, shown } from "./parts/dom.ts";

/** Which side of a comparison is seen. */
type Shows = "diff" | "now" | "base";
const SHOWS: readonly (readonly [Shows, string])[] = [["diff", "Difference"], ["base", "Before"], ["now", "After"]];

type Parameters = Partial<Record<string, string>>;

/** Of a file's address only what is behind "#" may be changed. */
function readHash(): Parameters {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

function writeHash(parameters: Parameters): void {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => (entry[1] ?? "") !== "");
  const query = new URLSearchParams(given).toString();

  history.replaceState(null, "", query === "" ? location.href.replace(/#.*$/s, "") : `#${query}`);
}

/** Each of them taken away. */
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
      this.buttons.length > 0 && h("div", { class: "file-sides", role: "group", "aria-label": "What is seen" }, ...this.buttons),
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

  /** An address that says nothing looks as the file was exported. */
  private said(): Parameters {
    return location.hash.length > 1 ? readHash() : { ...this.file.look };
  }

  /** The graph compares values, like the figures above it. */
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

  /** Another span, or another side: other stacks. */
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
