import { describe, test } from "node:test";
import assert from "node:assert/strict";
import { graphOf, levelCount, levelOf, nodeAt, visibleFrames, type Graph } from "../src/flame/graph/graph.ts";
import { levelsShown } from "../src/flame/graph/paint.ts";
import { neighbourFrame } from "../src/flame/graph/steps.ts";
import { colouringOf, LIGHT } from "../src/flame/graph/colour.ts";
import { maskOf, readPath, refOf, writePath } from "../src/flame/stacks/refs.ts";
import { functionsOf, randomOf, randomStacks, treeOfStacks } from "./stacks.ts";

const functions = functionsOf(40);

function graphsOf(): Graph[] {
  return Array.from({ length: 20 }, (_, seed) =>
    graphOf(treeOfStacks(randomStacks(seed + 50, 5 + seed * 60, 40, 12), functions, seed % 2 === 1), seed % 3 === 0 ? "name" : "value"));
}

function depthOf(graph: Graph, index: number): number {
  return index === 0 ? 0 : 1 + depthOf(graph, graph.parent[index]!);
}

describe("the layout", () => {
  test("places children in their parent, in order", () => {
    for (const graph of graphsOf())
      for (let index = 0; index < graph.node.length; index++) {
        let at = graph.x[index]!;
        assert.equal(levelOf(graph, index), depthOf(graph, index));
        for (let child = graph.firstChild[index]!; child < graph.firstChild[index + 1]!; child++) {
          assert.equal(graph.parent[child], index);
          assert.equal(graph.x[child], at);
          at += graph.width[child]!;
          if (child > graph.firstChild[index]! && graph.order === "value")
            assert.ok(graph.width[child - 1]! >= graph.width[child]!);
          if (child > graph.firstChild[index]! && graph.order === "name")
            assert.ok(functions.name[graph.functionOf[child - 1]!]! < functions.name[graph.functionOf[child]!]!);
        }
        // In a comparison of shares, the values of the baseline are scaled, so they may
        // be fractions.
        const own = graph.self[index]! + (graph.baseSelf?.[index] ?? 0) * (graph.tree.comparison?.factor ?? 1);
        assert.ok(Math.abs(graph.width[index]! - (at - graph.x[index]! + own)) <= 1e-9 * graph.width[0]!);
      }
  });

  test("finds the frame at a position", () => {
    for (const graph of graphsOf())
      for (let level = 0; level < levelCount(graph); level++)
        for (let at = 0; at < graph.width[0]!; at += 1 + graph.width[0]! / 53) {
          let wanted = -1;
          for (let index = graph.levelStart[level]!; index < graph.levelStart[level + 1]!; index++)
            if (graph.x[index]! <= at && at < graph.x[index]! + graph.width[index]!)
              wanted = index;
          assert.equal(nodeAt(graph, level, at), wanted);
        }
  });

});

describe("the visible part", () => {
  test("has the frames below the zoomed one that are at least half a pixel wide", () => {
    for (const [seed, graph] of graphsOf().entries()) {
      const zoom = randomOf(seed)(graph.node.length);
      const scale = 200 / graph.width[zoom]!;
      const seen = visibleFrames(graph, zoom, 200, 0, levelCount(graph));
      const left = graph.x[zoom]!;
      const right = left + graph.width[zoom]!;
      const wanted: number[] = [];
      for (let index = 0; index < graph.node.length && right > left; index++) {
        const width = Math.min(right, graph.x[index]! + graph.width[index]!) - Math.max(left, graph.x[index]!);
        if (width > 0 && width * scale >= 0.5)
          wanted.push(index);
      }
      assert.deepEqual(seen.node.filter((node) => node >= 0), wanted);
      assert.ok(seen.x.every((x, at) => x >= 0 && x + seen.width[at]! <= 200.51));
    }
  });

  test("reaches to the deepest frame below the zoomed one", () => {
    for (const graph of graphsOf())
      for (let zoom = 0; zoom < graph.node.length; zoom += 7) {
        let deepest = depthOf(graph, zoom);
        for (let index = zoom; index < graph.node.length; index++)
          for (let above = index; above > 0; above = graph.parent[above]!)
            if (above === zoom || zoom === 0)
              deepest = Math.max(deepest, depthOf(graph, index));
        assert.equal(levelsShown(graph, zoom), deepest + 1);
      }
  });
});

describe("the arrow keys", () => {
  const graph = graphOf(treeOfStacks([[0, 1], [0, 2], [3]].map((frames, at) => ({ frames, value: 9 - at, base: 0 })), functions), "value");
  const go = (index: number, key: string, isFlame = false): number => neighbourFrame(
    { graph, zoom: 0, rootName: "all", mask: null, colouring: colouringOf(graph, "kind"), theme: LIGHT, isFlame }, index, key, 100);

  test("go to the widest child, to the parent and to neighbours", () => {
    assert.deepEqual([go(0, "ArrowDown"), go(1, "ArrowDown"), go(3, "ArrowDown")], [1, 3, 3]);
    assert.deepEqual([go(3, "ArrowUp"), go(0, "ArrowUp")], [1, 0]);
    assert.deepEqual([go(3, "ArrowRight"), go(4, "ArrowRight"), go(2, "ArrowLeft"), go(1, "ArrowLeft")], [4, 4, 1, 1]);
    assert.deepEqual([go(0, "ArrowUp", true), go(1, "ArrowDown", true), go(4, "Home"), go(4, "x")], [1, 0, 0, -1]);
  });
});

describe("references in an address", () => {
  test("a path leads to its node, or to an ancestor in other data", () => {
    for (const graph of graphsOf())
      for (let index = 0; index < graph.node.length; index += 5)
        assert.equal(readPath(graph, writePath(graph, index)), index);
    const long = (depth: number): Graph => graphOf(treeOfStacks([{ frames: Array.from({ length: depth }, (_, at) => at % 40), value: 1, base: 0 }], functions), "name");
    const written = writePath(long(300), 300);
    assert.ok(written.length < 100, written);
    assert.equal(readPath(long(299), written), 299);
    // A path has hashes of the ancestors at distances 1, 2, 4, …. Of these, the nearest
    // one that a graph of 260 levels has is at distance 64.
    assert.equal(readPath(long(260), written), 300 - 64);
    assert.equal(readPath(long(300), "300-1"), 0);
    for (const wrong of ["", "x", "-1", "1e9-2", "1", "2-zzzzzzzzzzzz"])
      assert.equal(readPath(long(3), wrong), 0);
  });

  test("a reference to a function is unique", () => {
    const long = "x".repeat(100_000);
    const named = { name: ["a", "b", "b", long, "c\nd", ""], file: ["1", "1", "2", "1", "1", "1"], line: [0, 0, 0, 0, 0, 0] };

    assert.equal(refOf(named, 0), "a");
    named.name.forEach((_, id) => {
      const ref = refOf(named, id);
      assert.ok(ref.length < 120 && !ref.includes("\n"), ref);
      assert.deepEqual([...maskOf(named, ref)!], named.name.map((__, each) => each === id ? 1 : 0));
    });
    assert.deepEqual([...maskOf(named, "b")!], [0, 1, 1, 0, 0, 0]);
    assert.equal(maskOf(named, "z"), null);
    assert.equal(maskOf(named, "z~zzz"), null);
  });
});
