/** Reads folded stacks, one "outer;inner 30" per line. Lines with two numbers, like
 * those of FlameGraph's difffolded.pl, have the two sides of a comparison. */
import { ParseError, TreeMaker, type Parsed } from "./parsed.ts";

const LINE = /^(.*\S)\s+(\d+(?:\.\d+)?)$/s;
const PAIR = /^(.*\S)\s+(\d+(?:\.\d+)?)\s+(\d+(?:\.\d+)?)$/s;
/** Number of lines examined to recognise the format. */
const LINES_MAX = 20;
const FOLDED_NAME = /\.(folded|collapsed|stacks?)(\.|$)/i;

/** Yields the lines that are neither empty nor comments, with line numbers from 1. */
function* linesOf(text: string): Generator<readonly [line: string, number: number]> {
  let number = 0;

  for (let at = 0; at < text.length;) {
    const found = text.indexOf("\n", at);
    const end = found < 0 ? text.length : found;
    const line = text.slice(at, end).trimEnd();
    number++;
    at = end + 1;
    if (line !== "" && !line.startsWith("#"))
      yield [line, number];
  }
}

/** Whether most of the first lines are folded stacks. Lines of prose can end in
 * numbers, too, so at least one stack must have a caller, unless the file is named
 * *.folded. */
export function isFolded(text: string, name: string): boolean {
  let [seen, stacks, callers] = [0, 0, 0];

  for (const [line] of linesOf(text)) {
    const found = LINE.exec(line);
    stacks += Number(found !== null);
    callers += Number(found?.[1]!.includes(";") ?? false);
    if (++seen === LINES_MAX)
      break;
  }
  return stacks * 2 > seen && (callers > 0 || FOLDED_NAME.test(name));
}

/** Adds decimal numbers exactly, without rounding errors. */
class Decimals {
  private places = 0;

  /** Registers the decimal places of a number. Must be called for all numbers before
   * the first call of units(). */
  see(text: string): void {
    const point = text.indexOf(".");

    this.places = Math.max(this.places, point < 0 ? 0 : text.length - point - 1);
  }

  /** The number in units of the smallest decimal place. */
  units(text: string): number {
    const [whole, fraction = ""] = text.split(".");

    return Number(whole! + fraction.padEnd(this.places, "0"));
  }

  value(units: number): number {
    return units / 10 ** this.places;
  }
}

/** The result has one side, or two: before and after. */
export function foldedParsed(text: string): Parsed {
  const isPair = [...linesOf(text)].every(([line]) => PAIR.test(line));
  const makers = isPair ? [new TreeMaker(), new TreeMaker()] : [new TreeMaker()];
  const decimals = new Decimals();
  const pattern = isPair ? PAIR : LINE;

  for (const [line, number] of linesOf(text)) {
    const found = pattern.exec(line);
    if (!found)
      throw new ParseError(`line ${number} is not "frame;frame;frame NUMBER": \u201c${line.slice(0, 60)}\u201d`);
    found.slice(2).forEach((each) => { decimals.see(each); });
  }
  for (const [line] of linesOf(text)) {
    const [, stack, ...numbers] = pattern.exec(line)!;
    numbers.forEach((each, side) => {
      const units = decimals.units(each);
      if (units > Number.MAX_SAFE_INTEGER)
        throw new ParseError("a value of the folded stacks is too large");
      const maker = makers[side]!;
      maker.add(stack!.split(";").map((name) => maker.functionId(name === "" ? "[unknown]" : name)), units, units);
    });
  }
  const trees = makers.map((maker) => {
    const tree = maker.tree("samples", "count");
    const nodes = { ...tree.nodes, self: tree.nodes.self.map((units) => decimals.value(units)) };
    return { ...tree, nodes: { ...nodes, samples: nodes.self.map(Math.round) } };
  });
  const [first, second] = trees.map((tree) => [{ name: "samples", tree }]);
  return { format: "folded stacks", timeMs: null, notes: [], values: second ?? first!, ...second && { before: first! } };
}
