import { describe, test } from "node:test";
import assert from "node:assert/strict";
import { calleesOf, callersOf, collapsed, focused, hidden } from "../src/flame/stacks/stacks.ts";
import { derive } from "../src/flame/stacks/derive.ts";
import { graphOf, type Graph } from "../src/flame/graph/graph.ts";
import { pathTo } from "../src/flame/stacks/refs.ts";
import { scaled } from "../src/flame/stacks/derive.ts";
import { relativeOf, rowsOf, sortedIds } from "../src/flame/table/rows.ts";
import { matching, matchesOf, shareOf } from "../src/flame/stacks/search.ts";
import { PanelSearch } from "../src/flame/stacks/panel_search.ts";
import { treeOfPair, treeOf } from "../src/model/tree.ts";
import type { WireTree } from "../src/model/wire.ts";
import { wireOf } from "./flame_browser.ts";
import { functionsOf, maskOfIds, pathsOf, pathsOfStacks, randomStacks, treeOfStacks, type Stack } from "./stacks.ts";

const COUNT = 9;
const functions = functionsOf(COUNT);
const CASES = Array.from({ length: 25 }, (_, seed) => randomStacks(seed + 1, 1 + seed * 30, COUNT, 2 + (seed % 12)));

function each(check: (stacks: Stack[], isDiff: boolean) => void): void {
  for (const stacks of CASES)
    for (const isDiff of [false, true])
      check(stacks, isDiff);
}

function sum(stacks: readonly Stack[], side: "value" | "base"): number {
  return stacks.reduce((all, stack) => all + stack[side], 0);
}

const mask = maskOfIds(functions, [2, 5]);
const hasMasked = (stack: Stack): boolean => stack.frames.some((id) => mask[id] === 1);

describe("transformations of trees", () => {
  test("focus keeps whole stacks that contain a frame", () => {
    each((stacks, isDiff) => {
      assert.deepEqual(pathsOf(focused(treeOfStacks(stacks, functions, isDiff), mask)), pathsOfStacks(stacks.filter(hasMasked), isDiff));
    });
  });

  test("hide removes frames and keeps their callees", () => {
    each((stacks, isDiff) => {
      const without = stacks.map((stack) => ({ ...stack, frames: stack.frames.filter((id) => !mask[id]) }));
      assert.deepEqual(pathsOf(hidden(treeOfStacks(stacks, functions, isDiff), mask)), pathsOfStacks(without, isDiff));
    });
  });

  test("direct recursion collapses into one frame", () => {
    each((stacks, isDiff) => {
      const once = stacks.map((stack) => ({ ...stack, frames: stack.frames.filter((id, at) => id !== stack.frames[at - 1]) }));
      assert.deepEqual(pathsOf(collapsed(treeOfStacks(stacks, functions, isDiff), "direct")), pathsOfStacks(once, isDiff));
    });
  });

  test("all recursion continues at the first frame of a function", () => {
    each((stacks, isDiff) => {
      const once = stacks.map((stack) => {
        const frames: number[] = [];
        for (const id of stack.frames) {
          const before = frames.indexOf(id);
          frames.splice(before < 0 ? frames.length : before, frames.length, id);
        }
        return { ...stack, frames };
      });
      assert.deepEqual(pathsOf(collapsed(treeOfStacks(stacks, functions, isDiff), "all")), pathsOfStacks(once, isDiff));
    });
  });

  test("callees and callers of a sandwich start at the outermost frame", () => {
    each((stacks, isDiff) => {
      const through = stacks.filter(hasMasked);
      const outermost = (stack: Stack): number => stack.frames.findIndex((id) => mask[id] === 1);
      const tree = treeOfStacks(stacks, functions, isDiff);
      assert.deepEqual(pathsOf(calleesOf(tree, mask)),
        pathsOfStacks(through.map((stack) => ({ ...stack, frames: stack.frames.slice(outermost(stack) + 1) })), isDiff));
      assert.deepEqual(pathsOf(callersOf(tree, mask)),
        pathsOfStacks(through.map((stack) => ({ ...stack, frames: stack.frames.slice(0, outermost(stack)).reverse() })), isDiff));
    });
  });

  test("display options combine, and missing functions are reported", () => {
    const stacks = CASES[20]!;
    const name = (id: number): string => functions.name[id]!;
    const derived = derive(treeOfStacks(stacks, functions), { hide: name(1), focus: `${name(2)}\nmissing`, sandwich: name(3) });
    const both = derive(treeOfStacks(stacks, functions), { hide: name(1), focus: `${name(2)}\n${name(3)}` });

    assert.deepEqual(derived.missing, ["missing"]);
    assert.equal(derived.graph.total[0], 0);
    assert.deepEqual(pathsOf(both.graph.tree), pathsOfStacks(stacks
      .filter(({ frames }) => frames.includes(2) && frames.includes(3))
      .map((stack) => ({ ...stack, frames: stack.frames.filter((id) => id !== 1) }))));
  });
});

test("only my code moves the time of other code to its nearest own caller", () => {
  // Functions with an odd number belong to a gem.
  const mixed = { ...functions, file: functions.name.map((_, id) => id % 2 === 1 ? "/b/gems/rack-2.2.8/lib/rack.rb" : `/srv/app/${id}.rb`) };
  each((stacks, isDiff) => {
    const derived = derive(treeOfStacks(stacks, mixed, isDiff), { mine: "1" });
    assert.ok(derived.hasForeign);
    assert.deepEqual(pathsOf(derived.graph.tree), pathsOfStacks(stacks.map((stack) => ({ ...stack, frames: stack.frames.filter((id) => id % 2 === 0) })), isDiff));
  });
  const whole = treeOfStacks(CASES[20]!, functions);
  assert.deepEqual(pathsOf(derive(whole, { mine: "1" }).graph.tree), pathsOf(whole), "all code is the application's own");
  assert.ok(!derive(whole, {}).hasForeign);
});

describe("sums over all nodes", () => {
  test("self and total of functions count a stack once", () => {
    each((stacks, isDiff) => {
      const rows = rowsOf(graphOf(treeOfStacks(stacks, functions, isDiff), "value"));
      for (let id = 0; id < COUNT; id++) {
        const own = stacks.filter(({ frames }) => frames[frames.length - 1] === id);
        const total = stacks.filter(({ frames }) => frames.includes(id));
        assert.equal(rows.self[id], sum(own, "value"));
        assert.equal(rows.total[id], sum(total, "value"));
        assert.equal(rows.samples![id], total.length);
        assert.equal(rows.baseSelf?.[id], isDiff ? sum(own, "base") : undefined);
        assert.equal(rows.baseTotal?.[id], isDiff ? sum(total, "base") : undefined);
        assert.equal(rows.ids.includes(id), total.length > 0);
      }
    });
  });

  test("a search's share counts nested matches once", () => {
    each((stacks, isDiff) => {
      const graph = graphOf(treeOfStacks(stacks, functions, isDiff), "name");
      const share = shareOf(graph, mask);
      assert.equal(share.total, sum(stacks.filter(hasMasked), "value"));
      assert.equal(share.baseTotal, isDiff ? sum(stacks.filter(hasMasked), "base") : 0);
      assert.equal(share.frames, matchesOf(graph, mask).length);
    });
  });

  test("a search is text, a pattern or an error", () => {
    const named = { name: ["Order#total", "order.rb", "Cart.İ", "a/b"], file: ["", "", "", ""], line: [0, 0, 0, 0] };

    assert.deepEqual([...matching(named, "ORDER") as Uint8Array], [1, 1, 0, 0]);
    assert.deepEqual(matching(named, "/^order/"), /^order/u);
    assert.deepEqual(matching(named, "/^order/i"), /^order/iu);
    assert.deepEqual([...matching(named, "a/") as Uint8Array], [0, 0, 0, 1]);
    assert.equal(typeof matching(named, "/(/"), "string");
    assert.equal(matching(named, ""), null);
  });

  test("rows are sorted by the absolute change", () => {
    const stacks = [[0, 10, 0], [1, 0, 50], [2, 30, 60], [3, 5, 5]].map(([id, value, base]) => ({ frames: [id!], value: value!, base: base! }));
    const rows = rowsOf(graphOf(scaled(treeOfStacks(stacks, functions, true), "values"), "value"));
    const sorted = (column: "change" | "relative" | "name"): number[] => [...sortedIds(rows, functions.name, column, column === "name", rows.ids)];

    assert.deepEqual(sorted("change"), [1, 2, 0, 3]);
    assert.deepEqual(sorted("relative"), [0, 1, 2, 3]);
    assert.deepEqual(sorted("name"), [0, 1, 2, 3].sort((a, b) => functions.name[a]! < functions.name[b]! ? -1 : 1));
    assert.equal(relativeOf(0, 0), 0);
    assert.equal(relativeOf(1, 0), Infinity);
  });
});

test("self and total of functions and of a search are exact over 100,000 nodes", () => {
  const count = 500;
  const many = functionsOf(count);
  const stacks = randomStacks(1, 20_000, count, 14).map((stack) => ({ ...stack, value: stack.value * 10_000_001 }));
  const own = new Array<number>(count).fill(0);
  const total = own.slice();
  for (const { frames, value } of stacks) {
    if (frames.length > 0)
      own[frames[frames.length - 1]!]! += value;
    for (const id of new Set(frames))
      total[id]! += value;
  }
  const graph = graphOf(treeOfStacks(stacks, many), "value");
  const rows = rowsOf(graph);
  const searched = maskOfIds(many, [...many.line].filter((id) => id % 3 === 0));

  assert.ok(graph.tree.parent.length > 100_000);
  assert.deepEqual([...rows.self], own);
  assert.deepEqual([...rows.total], total);
  assert.equal(graph.total[0], sum(stacks, "value"));
  assert.equal(shareOf(graph, searched).total, sum(stacks.filter(({ frames }) => frames.some((id) => searched[id] === 1)), "value"));
});

describe("a comparison of two trees", () => {
  const wire = (names: string[], parent: number[], id: number[], self: number[]): WireTree => ({
    type: "cpu", unit: "count", profiles: 1, functions: { name: names, file: names.map(() => "f"), line: names.map(() => 1) },
    nodes: { parent, function: id, self },
  });

  test("merges functions with equal name and file", () => {
    const base = wire(["a", "b"], [0, 0, 1], [-1, 0, 1], [1, 2, 4]);
    const now = wire(["b", "a", "c"], [0, 0, 1, 0], [-1, 1, 0, 2], [0, 3, 5, 7]);
    const tree = treeOfPair(base, now);

    assert.deepEqual(tree.functions.name, ["a", "b", "c"]);
    assert.deepEqual(pathsOf(tree), new Map([["", "0 1"], ["/0", "3 2"], ["/0/1", "5 4"], ["/2", "7 0"]]));
    assert.deepEqual(pathsOf(treeOf(now)), new Map([["/1", "3 0"], ["/1/0", "5 0"], ["/2", "7 0"]]));
  });
});

test("the current match keeps its path in a new tree", () => {
  const search = new PanelSearch(() => undefined);
  const show = (stacks: Record<string, number>): Graph => {
    const graph = graphOf(treeOf(wireOf(stacks)), "value");
    search.prepareFor(graph.tree.functions);
    search.search(graph, graph, "query");
    return graph;
  };
  const pathOf = (graph: Graph, index: number): string =>
    pathTo(graph, index).slice(1).map((each) => graph.tree.functions.name[graph.functionOf[each]!]).join(";");
  const first = show({ "main;a;query": 9, "main;b;query": 5, "main;c;query": 3 });

  assert.equal(pathOf(first, search.step(1)), "main;a;query");
  assert.equal(pathOf(first, search.step(1)), "main;b;query");
  const newer = show({ newer: 1, "main;c;query": 20, "main;a;query": 9, "main;b;query": 5 });
  assert.match(search.text, /3 of 3$/);
  assert.equal(pathOf(newer, search.step(-1)), "main;a;query");
  const without = show({ "main;b;query": 5, "main;c;query": 3 });
  assert.match(search.text, /2 frames$/);
  assert.equal(pathOf(without, search.step(1)), "main;b;query");
  search.search(without, without, "main");
  assert.match(search.text, /1 frames$/);
});
