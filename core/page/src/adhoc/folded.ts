/** Folded stacks, "outer;inner 30" a line. */
import { NotUnderstood, TreeMaker, type Parsed } from "./parsed.ts";

const LINE = /^(.+?)\s+(\d+(?:\.\d+)?)$/s;

/** Whether the first lines are such stacks. */
export function isFolded(text: string): boolean {
  const lines = text.slice(0, 1 << 16).split("\n").slice(0, 20).map((line) => line.trimEnd()).filter((line) => line !== "" && !line.startsWith("#"));

  return lines.length > 0 && lines.slice(0, text.length > 1 << 16 ? -1 : undefined).every((line) => LINE.test(line));
}

export function foldedParsed(text: string): Parsed {
  const maker = new TreeMaker();
  let number = 0;

  for (const raw of text.split("\n")) {
    const line = raw.trimEnd();
    number++;
    if (line === "" || line.startsWith("#"))
      continue;
    const found = LINE.exec(line);
    if (!found)
      throw new NotUnderstood(`line ${number} is no "frame;frame;frame NUMBER"`);
    const value = Math.round(Number(found[2]));
    maker.add(found[1]!.split(";").map((name) => maker.functionId(name)), value, value);
  }
  return { format: "folded stacks", timeMs: null, notes: [], values: [{ name: "samples", tree: maker.tree("samples", "count") }] };
}
