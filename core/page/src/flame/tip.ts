/** What is said of a frame: beside the pointer, and read out. */
import { amount, count, fewOf, percent } from "../parts/format.ts";
import { h, shown } from "../parts/dom.ts";
import { levelCount, levelOf, type Graph } from "./graph.ts";
import { nameOf } from "./paint.ts";
import { relativeOf } from "./rows.ts";

export interface TipSource {
  readonly graph: Graph;
  readonly rootName: string;
  /** The zoomed frame. */
  readonly zoom: number;
  /** All there is, whatever is focused: right side and left side. */
  readonly whole: number;
  readonly wholeBase: number;
  /** A tree of callers: own values mean nothing there. */
  readonly isCallers: boolean;
}

export function placeOf(graph: Graph, id: number): string {
  const { file, line } = graph.tree.functions;

  if (id < 0 || !file[id])
    return "";
  return line[id]! > 0 ? `${file[id]}:${line[id]!}` : file[id];
}

/** "+12.3 %", "new", "gone". */
export function changeText(value: number, base: number): string {
  const relative = relativeOf(value, base);

  if (relative === Infinity)
    return "new";
  if (value === 0 && base > 0)
    return "gone";
  return `${relative > 0 ? "+" : ""}${percent(relative)}`;
}

export function signed(value: number, unit: string): string {
  return `${value > 0 ? "+" : ""}${amount(value, unit)}`;
}

type Line = readonly [title: string, value: string];

function sideLines(source: TipSource, index: number, isBase: boolean): Line[] {
  const { graph, isCallers, zoom } = source;
  const { unit } = graph.tree;
  const totals = isBase ? graph.baseTotal! : graph.total;
  const selves = isBase ? graph.baseSelf! : graph.self;
  const whole = isBase ? source.wholeBase : source.whole;
  const prefix = graph.baseTotal ? (isBase ? "left " : "right ") : "";
  const total = totals[index]!;
  const ofAll = `${amount(total, unit)} \u00b7 ${percent(total / whole)} of all`;
  const ofZoomed = zoom > 0 ? ` \u00b7 ${percent(total / totals[zoom]!)} of the zoomed` : "";
  const lines: Line[] = [[`${prefix}total`, ofAll + ofZoomed]];

  if (!isCallers)
    lines.push([`${prefix}own`, `${amount(selves[index]!, unit)} \u00b7 ${percent(selves[index]! / whole)} of all`]);
  return lines;
}

export function linesOf(source: TipSource, index: number): Line[] {
  const { graph } = source;
  const { baseSamples, baseTotal, samples, total, tree } = graph;
  const lines = baseTotal ? [...sideLines(source, index, true), ...sideLines(source, index, false)] : sideLines(source, index, false);

  if (baseTotal) {
    const points = (total[index]! / source.whole - baseTotal[index]! / source.wholeBase) * 100;
    lines.push(["change", `${signed(total[index]! - baseTotal[index]!, tree.unit)} \u00b7 ${changeText(total[index]!, baseTotal[index]!)}`]);
    if (Number.isFinite(points))
      lines.push(["share", `${points > 0 ? "+" : ""}${points.toFixed(2)} points of 100`]);
  }
  const sides = [[baseTotal ? "left " : "", baseSamples], [baseTotal ? "right " : "", samples]] as const;
  const counts = sides.flatMap(([side, of]) => of ? [`${side}${count(of[index]!)}`] : []);
  const few = fewOf(baseSamples?.[index] ?? null, samples?.[index] ?? null) ? " (few: no ranking)" : "";
  if (counts.length > 0)
    lines.push(["samples", `${counts.join(", ")}${few}`]);
  return lines;
}

/** One sentence for a screen reader. */
export function spoken(source: TipSource, index: number): string {
  return `${nameOf(source, index)}: ${linesOf(source, index).map(([title, value]) => `${title} ${value}`).join("; ")}; level ${levelOf(source.graph, index)} of ${levelCount(source.graph) - 1}`;
}

export class Tip {
  readonly element = h("div", { class: "flame-tip", hidden: true });

  show(source: TipSource, index: number, x: number, y: number): void {
    const place = placeOf(source.graph, source.graph.functionOf[index]!);
    const list = h("dl");

    for (const [title, value] of linesOf(source, index))
      list.append(h("dt", {}, title), h("dd", {}, value));
    this.element.replaceChildren(h("strong", {}, nameOf(source, index)), place ? h("div", { class: "flame-place" }, shown(place)) : "", list);
    this.element.hidden = false;
    const { width, height } = this.element.getBoundingClientRect();
    const left = x + 14 + width > innerWidth ? Math.max(4, x - width - 10) : x + 14;
    const top = y + 16 + height > innerHeight ? Math.max(4, y - height - 10) : y + 16;
    this.element.style.left = `${left}px`;
    this.element.style.top = `${top}px`;
  }

  hide(): void {
    this.element.hidden = true;
  }
}
