/** The header and footer of an exported page. */
import type { WireFile, WireFileSide } from "../model/wire.ts";
import { amount, count, moment, percent } from "../parts/format.ts";
import { h, safeText } from "../parts/dom.ts";
import { zoneOf } from "../parts/zone.ts";
import { themeControl } from "../shell/theme.ts";

const NOTES_SHOWN = 20;

function plural(number: number, word: string): string {
  return `${count(number)} ${word}${number === 1 ? "" : "s"}`;
}

export function totalOf(side: WireFileSide): number {
  return side.tree.nodes.self.reduce((sum, each) => sum + each, 0);
}

/** The display name of a type: "cpu" becomes "CPU". */
function typeName(type: string): string {
  return type === "cpu" ? "CPU" : type;
}

function range(side: WireFileSide): string {
  if (side.fromMs === 0)
    return "";
  const [from, until] = [moment(side.fromMs), moment(side.untilMs)];

  // Readers of the file may be in other time zones, so name the zone.
  if (side.untilMs <= side.fromMs)
    return `${from} ${zoneOf(side.fromMs)}`;
  return `${from} \u2013 ${from.slice(0, 10) === until.slice(0, 10) ? until.slice(11) : until} ${zoneOf(side.untilMs)}`;
}

function sentence(side: WireFileSide): string {
  const total = totalOf(side);
  const { type, unit, profiles } = side.tree;
  const of = total !== side.all && side.all > 0 ? `${percent(total / side.all)} of ${amount(side.all, unit)}` : "";
  const samples = side.samples > 0 ? plural(side.samples, "sample") : "";

  return [`${safeText(typeName(type), 60)} ${amount(total, unit)}`, of, samples,
    profiles > 0 ? plural(profiles, "profile") : "", range(side)].filter((each) => each !== "").join(" \u00b7 ");
}

export function fileHead(file: WireFile): HTMLElement {
  const sides = file.base ? [["Baseline: ", file.base], ["Comparison: ", file.now]] as const : [["", file.now]] as const;

  return h("header", { class: "file-head" },
    h("div", { class: "file-title" }, h("h1", {}, safeText(file.title, 300)), themeControl()),
    ...sides.map(([name, side]) => h("p", { class: "faint" }, name, sentence(side))),
    ...file.origin?.says.map((each) => h("p", { class: "faint file-origin" }, safeText(each, 2000))) ?? [],
    file.origin && /^https?:/.test(file.origin.link)
      && h("p", { class: "faint" }, h("a", { href: file.origin.link, rel: "noreferrer" }, "Open on the server")),
    file.now.tree.nodes.parent.length === 1 && totalOf(file.now) === 0
      && h("p", { role: "status" }, "No samples match the filters of this report."));
}

function notes(title: string, comments: readonly string[]): HTMLElement | null {
  if (comments.length === 0)
    return null;
  const item = (text: string): HTMLElement => h("li", {}, safeText(text));
  const more = comments.slice(NOTES_SHOWN);

  return h("section", { class: "file-notes" }, h("h2", {}, title), h("ul", {}, ...comments.slice(0, NOTES_SHOWN).map(item)),
    more.length > 0 && h("details", {}, h("summary", {}, `${count(more.length)} more`), h("ul", {}, ...more.map(item))));
}

/** The profiles' comments, for example on drops and overhead. */
export function fileNotes(file: WireFile): HTMLElement {
  return h("footer", {},
    file.base ? notes("Comments of the baseline profiles", file.base.comments) : null,
    notes("Comments of the profiles", file.now.comments));
}
