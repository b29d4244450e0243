/** The tooltip of a frame, and its text for screen readers. */
import { differenceText, growthText, NOISE_HINT, noiseText } from "../../parts/change.ts";
import { amount, count, fewOf, percent } from "../../parts/format.ts";
import { h, safeText } from "../../parts/dom.ts";
import { shortPlaceOf } from "../stacks/code_place.ts";
import { levelCount, levelOf, type Graph } from "./graph.ts";
import { nameOf } from "./paint.ts";

export interface TipSource {
  readonly graph: Graph;
  readonly rootName: string;
  /** The zoomed frame. */
  readonly zoom: number;
  /** The totals of the new and the baseline side, before filtering. */
  readonly whole: number;
  readonly wholeBase: number;
  /** Whether the graph shows callers, whose self values are meaningless. */
  readonly isCallers: boolean;
}

type Line = readonly [title: string, value: string];

function sideLines(source: TipSource, index: number, isBase: boolean): Line[] {
  const { graph, isCallers, zoom } = source;
  const { unit } = graph.tree;
  const totals = isBase ? graph.baseTotal! : graph.total;
  const selves = isBase ? graph.baseSelf! : graph.self;
  const whole = isBase ? source.wholeBase : source.whole;
  const prefix = graph.baseTotal ? (isBase ? "baseline " : "comparison ") : "";
  const total = totals[index]!;
  const ofAll = `${amount(total, unit)} \u00b7 ${percent(total / whole)} of total`;
  const ofZoomed = zoom > 0 ? ` \u00b7 ${percent(total / totals[zoom]!)} of the zoomed frame` : "";
  const lines: Line[] = [[`${prefix}total`, ofAll + ofZoomed]];

  if (!isCallers)
    lines.push([`${prefix}self`, `${amount(selves[index]!, unit)} \u00b7 ${percent(selves[index]! / whole)} of total`]);
  return lines;
}

function changeText({ baseSamples, baseTotal, samples, total, tree: { comparison, unit } }: Graph, index: number): string {
  const [value, base] = [total[index]!, baseTotal![index]!];

  return comparison!.isNoise(value, base, samples && samples[index]!, baseSamples && baseSamples[index]!) ? `${noiseText(comparison!, value, base)}: ${NOISE_HINT.toLowerCase()}`
    : `${differenceText(comparison!, value, base, unit)} \u00b7 ${growthText(comparison!, value, base)}`;
}

export function linesOf(source: TipSource, index: number): Line[] {
  const { graph } = source;
  const { baseSamples, baseTotal, samples } = graph;
  const lines = baseTotal ? [...sideLines(source, index, true), ...sideLines(source, index, false)] : sideLines(source, index, false);

  if (baseTotal)
    lines.push(["change", changeText(graph, index)]);
  const sides = [[baseTotal ? "baseline " : "", baseSamples], [baseTotal ? "comparison " : "", samples]] as const;
  const counts = sides.flatMap(([side, of]) => of ? [`${side}${count(of[index]!)}`] : []);
  const note = fewOf(baseSamples?.[index] ?? null, samples?.[index] ?? null) ? " (fewer than 10: unreliable)" : "";
  if (counts.length > 0)
    lines.push(["samples", `${counts.join(", ")}${note}`]);
  return lines;
}

/** The description of a frame for screen readers. */
export function descriptionOf(source: TipSource, index: number): string {
  return `${nameOf(source, index)}: ${linesOf(source, index).map(([title, value]) => `${title} ${value}`).join("; ")}; level ${levelOf(source.graph, index)} of ${levelCount(source.graph) - 1}`;
}

export class Tip {
  readonly element = h("div", { class: "flame-tip", hidden: true });

  show(source: TipSource, index: number, x: number, y: number): void {
    const { functions } = source.graph.tree;
    const id = source.graph.functionOf[index]!;
    const place = id < 0 ? "" : shortPlaceOf(functions, id);
    const list = h("dl");

    for (const [title, value] of linesOf(source, index))
      list.append(h("dt", {}, title), h("dd", {}, value));
    this.element.replaceChildren(h("strong", {}, nameOf(source, index)), place ? h("div", { class: "flame-place" }, safeText(place)) : "", list);
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
