/** The "Open file" view: shows dropped files without storing them. It compares two files. */
import { flamePanel, type Panel } from "../flame/panel.ts";
import { ParseError, type ParsedValue } from "../adhoc/parsed.ts";
import { KINDS, readFile, type ReadFile } from "../adhoc/read.ts";
import { storeForm } from "../adhoc/store.ts";
import { treeOf, treeOfPair, type Tree } from "../model/tree.ts";
import { packed } from "../export/pprof.ts";
import type { Origin } from "../export/origin.ts";
import { amount, count, moment } from "../parts/format.ts";
import { h, safeText } from "../parts/dom.ts";
import { zoneOf } from "../parts/zone.ts";
import type { View } from "./view.ts";

const NAME_MAX = 120;

/** The open files, which stay open when the user visits other views. */
let openFiles: readonly ReadFile[] = [];
/** The key of the displayed value; see keyOf(). */
let value = "";

/** Identifies a value. Values are comparable if name and unit are equal. */
function keyOf({ name, tree }: ParsedValue): string {
  return `${name} ${tree.unit}`;
}

/** The chosen thread of a file, as an index. Files without an entry show all threads. */
const chosenThreads = new WeakMap<ReadFile, number>();

/** The file with the values of its chosen thread. */
function shown(file: ReadFile): ReadFile {
  const thread = file.threads?.[chosenThreads.get(file) ?? -1];

  return thread ? { ...file, name: `${file.name}, ${thread.name}`, values: thread.values } : file;
}

/** The values that all files have. */
function sharedValues(files: readonly ReadFile[]): ParsedValue[] {
  const [first, ...others] = files.map(shown);

  return (first?.values ?? []).filter((one) => others.every(({ values }) => values.some((each) => keyOf(each) === keyOf(one))));
}

function indexOf({ values }: ReadFile): number {
  return Math.max(values.findIndex((each) => keyOf(each) === value), 0);
}

function shownValue(file: ReadFile): ParsedValue {
  const { values } = shown(file);

  return values[indexOf({ ...file, values })]!;
}

function treeOfFiles(files: readonly ReadFile[]): Tree {
  const [first, second] = files.map((file) => shownValue(file).tree);

  return second ? treeOfPair(first!, second) : treeOf(first!);
}

/** The sides of a file: two if it is a comparison. */
function sidesOf(file: ReadFile): ReadFile[] {
  return file.before
    ? [{ ...file, name: `${file.name} (baseline)`, values: file.before }, { ...file, name: `${file.name} (comparison)` }] : [file];
}

/** The origin of opened files, which have no link. A single pprof file is exported
 * unchanged. */
function originOfFiles(files: readonly ReadFile[]): Origin {
  const last = files[files.length - 1]!;
  const when = (file: ReadFile): string => file.timeMs === null ? "" : ` \u00b7 ${moment(file.timeMs)} ${zoneOf(file.timeMs)}`;

  return {
    lines: files.map((file) => `${shown(file).name}: ${file.format}, ${shownValue(file).name}${when(file)}`), link: "",
    range: last.timeMs === null ? null : { fromMs: last.timeMs, untilMs: last.timeMs },
    profile: files.length === 1 && last.format === "pprof"
      ? async () => new Blob([await packed(last.bytes)], { type: "application/octet-stream" }) : null,
    functionLines: files.length === 1 ? shownValue(last).lines ?? null : null,
  };
}

class Adhoc {
  private readonly input = h("input", { type: "file", multiple: true, "aria-describedby": "adhoc-kinds" });
  private readonly drop: HTMLElement;
  private readonly errors = h("div", { class: "adhoc-faults", role: "alert" });
  private readonly files = h("div", { class: "adhoc-files" });
  private readonly tools = h("div", { class: "adhoc-tools" });
  private readonly place = h("div", {});
  private panel: Panel | null = null;

  constructor(private readonly view: View) {
    this.drop = h("label", { class: "adhoc-drop" }, this.input,
      h("strong", {}, "Drop a profile here, or choose a file"),
      h("span", { class: "faint", id: "adhoc-kinds" },
        `${KINDS}. Two files are compared. `,
        "Files stay in your browser unless you store them on the server."));
    this.input.addEventListener("change", () => {
      void this.readFiles([...this.input.files ?? []]);
      this.input.value = "";
    });
    this.listen();
    view.element.append(h("h1", {}, "Open a profile"), this.drop, this.errors, this.files, this.tools, this.place);
    view.signal.addEventListener("abort", () => { this.panel?.dispose(); });
    this.show();
  }

  /** Accepts files anywhere in the window. If a file were dropped next to a smaller
   * field, the browser would open the file and leave this page. */
  private listen(): void {
    const { signal } = this.view;
    const over = (isOver: boolean) => (event: DragEvent): void => {
      event.preventDefault();
      this.drop.classList.toggle("adhoc-over", isOver);
    };

    addEventListener("dragover", over(true), { signal });
    addEventListener("dragleave", over(false), { signal });
    addEventListener("drop", (event) => {
      over(false)(event);
      void this.readFiles([...event.dataTransfer?.files ?? []]);
    }, { signal });
  }

  /** Compares a second file with the first. A third file replaces the second. */
  private async readFiles(files: readonly File[]): Promise<void> {
    const read: ReadFile[] = [];

    if (files.length === 0)
      return;
    this.errors.replaceChildren();
    this.place.setAttribute("aria-busy", "true");
    this.view.announce("Reading\u2026");
    for (const file of files.slice(0, 2))
      try {
        read.push(...sidesOf(await readFile(file)));
      } catch (error) {
        this.errors.append(h("p", { class: "fault" }, safeText(error instanceof ParseError ? error.message : `${file.name}: error in this page: ${String(error)}`)));
        if (!(error instanceof ParseError))
          console.error(error);
      }
    if (files.length > 2)
      this.errors.append(h("p", {}, `Only two files can be compared; ${files.length - 2} more ignored.`));
    this.place.removeAttribute("aria-busy");
    if (read.length === 0 || this.view.signal.aborted)
      return;
    this.setFiles(read.length >= 2 ? read.slice(0, 2) : [...openFiles.slice(0, 1), ...read]);
  }

  private setFiles(files: readonly ReadFile[]): void {
    const shared = sharedValues(files);

    if (files.length === 2 && shared.length === 0) {
      this.errors.append(h("p", { class: "fault" }, safeText(`Cannot compare ${files[0]!.name} and ${files[1]!.name}: they have no value with the same name and unit.`)));
      this.setFiles([files[1]!]);
      return;
    }
    openFiles = files;
    if (!shared.some((each) => keyOf(each) === value))
      value = shared[0] ? keyOf(shared[0]) : "";
    this.show();
    this.view.announce(files.length === 0 ? "No file open." : `Showing ${files.map(({ name }) => safeText(name, NAME_MAX)).join(" and ")}.`);
  }

  private show(): void {
    this.files.replaceChildren(...openFiles.map((file, index) => this.card(file, index)));
    this.tools.replaceChildren(...this.choices());
    this.panel?.dispose();
    this.panel = null;
    this.place.replaceChildren();
    this.view.title(openFiles.map(({ name }) => name).join(", "));
    if (openFiles.length === 0)
      return;
    this.panel = flamePanel({
      tree: treeOfFiles(openFiles), display: this.view.state.parameters, title: openFiles.map(({ name }) => name).reverse().join(" compared with "),
      origin: () => originOfFiles(openFiles),
      onDisplayChange: (display) => { this.view.updateAddress(display); },
    });
    this.place.append(this.panel.element);
  }

  private choices(): HTMLElement[] {
    const shared = sharedValues(openFiles);
    const tools: HTMLElement[] = [];

    if (shared.length > 1) {
      const select = h("select", {}, ...shared.map((each) => h("option", { value: keyOf(each) }, safeText(each.name, NAME_MAX))));
      select.value = value;
      select.addEventListener("change", () => {
        value = select.value;
        this.show();
      });
      tools.push(h("label", {}, "Value ", select));
    }
    if (openFiles.length === 2)
      tools.push(h("button", { type: "button", onclick: () => { this.setFiles([...openFiles].reverse()); } }, "Swap sides"));
    return tools;
  }

  private card(file: ReadFile, index: number): HTMLElement {
    const { name, tree } = shownValue(file);
    const sum = (values: readonly number[]): number => values.reduce((all, each) => all + each, 0);
    const total = sum(tree.nodes.self);
    const samples = sum(tree.nodes.samples ?? []);
    const facts = [file.format, `${safeText(name, NAME_MAX)} ${amount(total, tree.unit)}`,
      tree.unit === "count" || !tree.nodes.samples ? "" : `${count(samples)} samples`, file.timeMs === null ? "" : moment(file.timeMs)];
    const role = openFiles.length === 2 ? (index === 0 ? "Baseline: " : "Comparison: ") : "";

    return h("section", { class: "adhoc-file", "aria-label": safeText(file.name, NAME_MAX) },
      h("div", { class: "adhoc-title" }, h("h2", {}, role, safeText(file.name, NAME_MAX)),
        h("button", {
          type: "button", "aria-label": `Close ${safeText(file.name, NAME_MAX)}`, onclick: () => { this.setFiles(openFiles.filter((each) => each !== file)); },
        }, "Close")),
      h("p", { class: "faint" }, facts.filter((each) => each !== "").join(" \u00b7 ")),
      this.threadChoice(file),
      ...file.notes.map((note) => h("p", {}, safeText(note))),
      storeForm(this.view, shown(file), () => indexOf(shown(file))));
  }

  private threadChoice(file: ReadFile): HTMLElement | null {
    const threads = file.threads ?? [];
    const select = h("select", {}, h("option", { value: -1 }, `Sum of ${count(threads.length)} threads`),
      ...threads.map(({ name }, index) => h("option", { value: index }, `${index + 1}: ${safeText(name, NAME_MAX)}`)));

    if (threads.length < 2)
      return null;
    select.value = String(chosenThreads.get(file) ?? -1);
    select.addEventListener("change", () => {
      chosenThreads.set(file, Number(select.value));
      this.setFiles(openFiles);
      this.files.children[openFiles.indexOf(file)]?.querySelector("select")?.focus();
    });
    return h("label", {}, "Thread ", select);
  }
}

export function adhoc(view: View): Promise<void> {
  new Adhoc(view);
  // The data does not come from the server, so there is nothing to refresh.
  view.onRefresh(() => Promise.resolve());
  return Promise.resolve();
}
