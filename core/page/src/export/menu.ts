/** The "Export" menu of a flame graph, which saves the displayed graph to a file. */
import type { DisplayOptions } from "../flame/display.ts";
import { canvasOf, captioned, svgOf, type Picture } from "../flame/graph/picture.ts";
import type { Tree } from "../model/tree.ts";
import { h, safeText } from "../parts/dom.ts";
import { csvOf } from "./csv.ts";
import { foldedOf } from "./folded.ts";
import type { Origin } from "./origin.ts";
import { fileOf, isWhole, pageOf } from "./page.ts";
import { packed, pprofOf } from "./pprof.ts";
import { fileName, save } from "./save.ts";
import { speedscopeOf } from "./speedscope.ts";

/** The members of a flame graph panel that exports use. */
export interface Exported {
  /** The tree after focus, hide, "only my code" and recursion. */
  tree(): Tree;
  display(): DisplayOptions;
  picture(): Picture;
  origin(): Origin;
}

const PNG_SCALE = 2;

type Format = readonly [name: string, ending: string, about: string, make: (source: Exported, title: string) => Promise<Blob>];

/** Returns the stored profile, which has labels, if all of it is shown. Otherwise makes
 * a profile without labels from the drawn tree. */
async function pprofBlob(source: Exported, title: string): Promise<Blob> {
  const origin = source.origin();

  return origin.profile && isWhole(source.display()) ? await origin.profile(title)
    : new Blob([await packed(pprofOf(source.tree(), title, origin))], { type: "application/octet-stream" });
}

function pictureOf(source: Exported, title: string): Picture {
  const { lines, link } = source.origin();

  return captioned(source.picture(), [title, ...lines].map((each) => safeText(each)), link);
}

const FORMATS: readonly Format[] = [
  ["pprof", "pb.gz", "for go tool pprof, spanprof report and others", pprofBlob],
  ["Folded stacks", "folded", "one line per stack", (source, title) =>
    Promise.resolve(new Blob([foldedOf(source.tree(), title, source.origin())], { type: "text/plain" }))],
  ["speedscope", "speedscope.json", "for speedscope.app", (source, title) =>
    Promise.resolve(new Blob([speedscopeOf(source.tree(), title, source.origin())], { type: "application/json" }))],
  ["CSV", "csv", "table of functions for spreadsheets", (source, title) =>
    Promise.resolve(new Blob([csvOf(source.tree(), title, source.origin())], { type: "text/csv" }))],
  ["HTML", "html", "interactive page that works offline", (source, title) =>
    Promise.resolve(new Blob([pageOf(fileOf(source.tree(), title, source.display(), source.origin()))], { type: "text/html" }))],
  ["SVG", "svg", "vector image", (source, title) =>
    Promise.resolve(new Blob([svgOf(pictureOf(source, title))], { type: "image/svg+xml" }))],
  ["PNG", "png", "image", async (source, title) => await new Promise<Blob>((resolve, reject) => {
    canvasOf(pictureOf(source, title), PNG_SCALE).toBlob((blob) => {
      if (blob)
        resolve(blob);
      else
        reject(new Error("The picture is too large for this browser."));
    }, "image/png");
  })],
];

let menus = 0;

export class ExportMenu {
  readonly element: HTMLElement;
  private readonly id = `export-${++menus}`;
  private readonly button = h("button", { type: "button", "aria-expanded": "false", "aria-controls": this.id }, "Export");
  private readonly fault = h("p", { class: "fault", role: "alert", hidden: true });
  private readonly content: HTMLElement;

  constructor(private readonly source: Exported, private readonly title: string) {
    this.content = h("div", { class: "export-formats", id: this.id, role: "group", "aria-label": "Export as", tabindex: "-1", hidden: true },
      ...FORMATS.map((format) => h("button", { type: "button", onclick: () => { void this.run(format); } },
        h("strong", {}, format[0]), h("span", {}, format[2]))), this.fault);
    this.element = h("div", { class: "export" }, this.button, this.content);
    this.button.addEventListener("click", () => { this.setOpen(this.content.hidden); });
    // Moving the focus away closes the menu. Not every browser focuses a clicked button.
    this.element.addEventListener("focusout", (event) => {
      if (!(event.relatedTarget instanceof Node && this.element.contains(event.relatedTarget)))
        this.setOpen(false);
    });
    this.element.addEventListener("keydown", (event) => {
      event.stopPropagation(); // The flame graph must not handle the key as its own shortcut.
      if (event.key !== "Escape" || this.content.hidden)
        return;
      this.setOpen(false);
      this.button.focus();
    });
  }

  private setOpen(open: boolean): void {
    this.content.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
    if (open)
      this.content.querySelector("button")?.focus();
  }

  private async run([, ending, , make]: Format): Promise<void> {
    this.fault.hidden = true;
    this.element.setAttribute("aria-busy", "true");
    try {
      save(await make(this.source, this.title), `${fileName(this.title)}.${ending}`);
      this.setOpen(false);
      this.button.focus();
    } catch (error) {
      this.fault.textContent = error instanceof Error ? error.message : String(error);
      this.fault.hidden = false;
    } finally {
      this.element.removeAttribute("aria-busy");
    }
  }
}
