/** Writes a tree in speedscope's file format (https://www.speedscope.app/file-format-schema.json).
 * A comparison has one profile for each side. */
import { pathOf, type Tree } from "../model/tree.ts";
import type { Origin } from "./origin.ts";

/** The units of the format. */
const UNITS = new Set(["nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"]);

interface Profile {
  readonly type: "sampled";
  readonly name: string;
  readonly unit: string;
  readonly startValue: number;
  readonly endValue: number;
  /** Frames of each stack, outermost first. */
  readonly samples: number[][];
  readonly weights: number[];
}

function profileOf(tree: Tree, values: Float64Array, name: string): Profile {
  const samples: number[][] = [];
  const weights: number[] = [];

  values.forEach((value, node) => {
    if (value > 0) {
      samples.push(pathOf(tree, node));
      weights.push(value);
    }
  });
  return {
    type: "sampled", name, unit: UNITS.has(tree.unit) ? tree.unit : "none", startValue: 0, endValue: weights.reduce((sum, each) => sum + each, 0), samples, weights,
  };
}

/** The name contains query, range and link, since the format has no other text that
 * speedscope shows. */
export function speedscopeOf(tree: Tree, title: string, { lines, link }: Pick<Origin, "lines" | "link">): string {
  const { name, file, line } = tree.functions;
  const frames = name.map((each, id) => ({ name: each, ...file[id] !== "" && { file: file[id] }, ...line[id]! > 0 && { line: line[id] } }));
  const about = [title, ...lines, ...link === "" ? [] : [link]].join(" \u00b7 ");
  const profiles = tree.baseSelf
    ? [profileOf(tree, tree.baseSelf, `${tree.type}, baseline`), profileOf(tree, tree.self, `${tree.type}, comparison`)] : [profileOf(tree, tree.self, tree.type)];

  return JSON.stringify({
    $schema: "https://www.speedscope.app/file-format-schema.json", name: about, exporter: "spanprof", activeProfileIndex: profiles.length - 1, shared: { frames }, profiles,
  });
}
