import { describe, test } from "node:test";
import assert from "node:assert/strict";
import { colouringOf } from "../src/flame/graph/colour.ts";
import { scaled } from "../src/flame/stacks/derive.ts";
import { graphOf } from "../src/flame/graph/graph.ts";
import { rowsOf, valueOf } from "../src/flame/table/rows.ts";
import { Comparison, isSplitByChance, SCALES } from "../src/model/comparison.ts";
import { comparisonOf, type Tree } from "../src/model/tree.ts";
import { TreeBuilder } from "../src/model/tree_builder.ts";
import { differenceText, growthText, sideText } from "../src/parts/change.ts";
import { changesOf } from "../src/spans/change.ts";
import { functionsOf, randomOf, randomStacks } from "./stacks.ts";

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];
const GREY = 10;
const functions = functionsOf(9);
const WEIGHT = 10_000_001;

/** Returns a comparison of random stacks. `countsOf` returns the numbers of samples of
 * a stack on both sides. */
function pair(seed: number, isCounted: boolean, countsOf: (value: number) => readonly [now: number, base: number]): Tree {
  const builder = new TreeBuilder({ base: true, samples: isCounted, baseSamples: isCounted });

  for (const { frames, value } of randomStacks(seed, 300, 9, 12)) {
    let node = 0;
    for (const id of frames)
      node = builder.child(node, id);
    const [now, base] = countsOf(value);
    builder.add(node, now * WEIGHT, base * WEIGHT, now, base);
  }
  const columns = builder.columns();
  return { type: "cpu", unit: "nanoseconds", functions, ...columns, comparison: comparisonOf(columns), merged: 0 };
}

function fillsOf(tree: Tree): number[] {
  const graph = graphOf(tree, "value");
  const colouring = colouringOf(graph, undefined);

  return Array.from(graph.node, (_, index) => colouring.fillOf(index));
}

/** Checks that no difference is coloured or has a value. */
function assertGrey(tree: Tree, message: string): void {
  const rows = rowsOf(graphOf(tree, "value"));

  assert.deepEqual([...new Set(fillsOf(tree))], [GREY], message);
  for (const id of rows.ids)
    for (const column of ["change", "relative"] as const)
      assert.equal(valueOf(rows, column, id), 0, message);
  for (const { samples, ...row } of changesOf(tree))
    assert.ok(tree.comparison!.isNoise(row.self, row.baseSelf, samples.self, samples.baseSelf), message);
}

/** The binomial probability P(X = k), computed by its logarithm. */
function binomial(k: number, n: number, p: number): number {
  let log = k * Math.log(p) + (n - k) * Math.log1p(-p);

  for (let i = 1; i <= k; i++)
    log += Math.log((n - k + i) / i);
  return Math.exp(log);
}

describe("the difference of two trees", () => {
  test("is grey for equal random inputs, in shares and in values", () => {
    for (const seed of SEEDS)
      for (const isCounted of [true, false])
        for (const scale of SCALES)
          assertGrey(scaled(pair(seed, isCounted, (value) => [value, value]), scale), `seed ${seed}, ${scale}`);
  });

  test("is grey in shares if the shares are equal, whatever the totals are", () => {
    for (const seed of SEEDS)
      for (const isCounted of [true, false])
        assertGrey(scaled(pair(seed, isCounted, (value) => [value * 7, value * 3]), "shares"), `seed ${seed}`);
  });

  test("is coloured by chance in at most one of 100,000 frames", () => {
    let [coloured, frames] = [0, 0];

    for (let seed = 1; seed <= 100; seed++) {
      const random = randomOf(seed);
      // Put each sample on one of the two sides, with equal probability.
      const tree = pair(seed, true, (value) => {
        let now = 0;
        for (let i = 0; i < value; i += 10)
          now += random(2);
        return [now, Math.ceil(value / 10) - now];
      });
      for (const scale of SCALES) {
        const fills = fillsOf(scaled(tree, scale));
        frames += fills.length;
        coloured += fills.filter((fill) => fill !== GREY).length;
      }
    }
    assert.ok(frames > 50_000 && coloured <= 2, `${coloured} of ${frames}`);
  });
});

describe("the difference of a frame", () => {
  test("is noise if its exact probability is above the bound", () => {
    for (const share of [0.5, 0.1, 0.003])
      for (let n = 1; n <= 80; n++)
        for (let k = 0; k <= n; k++) {
          const [from, until] = k > n * share ? [k, n] : [0, k];
          let tail = 0;
          for (let each = from; each <= until; each++)
            tail += binomial(each, n, share);
          assert.ok(isSplitByChance(k, n - k, share) || 2 * tail <= 1e-5, `${k} of ${n} at ${share}: ${tail}`);
        }
    assert.deepEqual([17, 18].map((samples) => isSplitByChance(samples, 0, 0.5)), [true, false]);
    assert.ok(!isSplitByChance(0, 18, 0.5) && isSplitByChance(20, 19, 0.5) && isSplitByChance(0, 0, 0.5));
  });

  test("has the full colour if a share doubles or halves, and half of it at a factor of 1.41", () => {
    const comparison = new Comparison({ total: 1e6, samples: 1e6 }, { total: 5e5, samples: 5e5 });
    const change = (now: number, base: number): number => comparison.change(now, base, now, base);

    assert.deepEqual([change(2e5, 2e5), change(5e4, 2e5), change(1e5, 2e5), change(1e5, 0), change(0, 1e5)], [1, -1, 0, 1, -1]);
    assert.ok(Math.abs(change(1e5 * Math.SQRT2, 2e5) - 0.5) < 0.001);
    assert.equal(comparison.by("values").change(1e5, 2e5, 1e5, 2e5), -1);
  });

  test("is grey for few samples, even if it is large", () => {
    const comparison = new Comparison({ total: 22.5e12, samples: 225_000 }, { total: 2.3e9, samples: 23 });

    // The new side has only 23 samples. 20.7 % of them, and 0 %, are within chance of
    // 22.5 % on the base side.
    assert.equal(comparison.change(0.476e9, 5.06e12, 5, 50_600), 0);
    assert.equal(comparison.change(0, 5.06e12, 0, 50_600), 0);
    assert.equal(comparison.change(2e9, 0.45e12, 20, 4500), 1);
  });

  test("is noise if counts and values of samples with different weights disagree", () => {
    const comparison = new Comparison({ total: 1e9, samples: 100 }, { total: 1e9, samples: 1000 }, "values");

    assert.equal(comparison.change(1e9, 1e9, 1000, 100), 0);
    assert.equal(comparison.change(1e9, 1e8, 1000, 10), 1);
    assert.equal(comparison.change(9e7, 1e8, 900, 10), 0);
  });

  test("is in percent for shares and in the unit for values", () => {
    const comparison = new Comparison({ total: 2e9, samples: 200 }, { total: 1e9, samples: 100 });
    const texts = (of: Comparison): string[] => [sideText(of, "base", 5e8, "nanoseconds"), sideText(of, "now", 5e8, "nanoseconds"),
      differenceText(of, 5e8, 5e8, "nanoseconds"), growthText(of, 5e8, 5e8)];

    assert.deepEqual(texts(comparison), ["25.0 %", "50.0 %", "+25.00 pp", "+100.0 %"]);
    assert.deepEqual(texts(comparison.by("values")), ["500 ms", "500 ms", "0 ns", "0.0 %"]);
    assert.deepEqual([growthText(comparison, 1, 0), growthText(comparison, 0, 1), growthText(comparison, 0, 0)], ["new", "gone", "\u2013"]);
  });

  test("compares values if a side is empty", () => {
    const comparison = new Comparison({ total: 0, samples: 0 }, { total: 3e9, samples: 300 });

    assert.equal(comparison.scale, "values");
    assert.equal(comparison.change(1e9, 0, 100, 0), 1);
  });
});
