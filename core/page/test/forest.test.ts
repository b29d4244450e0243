import { test } from "node:test";
import assert from "node:assert/strict";
import type { WireTraceSpan } from "../src/model/wire.ts";
import { forestOf, visibleOf } from "../src/trace/forest.ts";

function span(spanId: string, parentId: string | null, startNs: number, durationNs: number, own = 0): WireTraceSpan {
  return {
    spanId, parentId, name: spanId, service: "s", kind: 1, startNs, durationNs, status: 0, statusMessage: "",
    attributes: {}, own, total: own, samples: own ? 1 : 0,
  };
}

const names = (spans: WireTraceSpan[]): string[] => forestOf(spans).branches.map(({ span: { spanId }, depth }) => `${depth}${spanId}`);

test("branches are in depth-first order, siblings by start", () => {
  const forest = forestOf([span("c", "a", 30, 5), span("b", "a", 10, 5, 7), span("d", "b", 12, 1), span("a", null, 0, 100, 3)]);

  assert.deepEqual(forest.branches.map((branch) => branch.span.spanId), ["a", "b", "d", "c"]);
  assert.deepEqual(forest.branches.map((branch) => branch.descendants), [3, 1, 0, 0]);
  assert.deepEqual([forest.lengthNs, forest.self, forest.samples], [100, 10, 2]);
  assert.deepEqual(visibleOf(forest, new Set([1])), [0, 1, 3]);
  assert.deepEqual(visibleOf(forest, new Set([0])), [0]);
});

test("a span with a missing parent is a marked root", () => {
  const forest = forestOf([span("a", null, 0, 10), span("b", "missing", 5, 3)]);

  assert.deepEqual(forest.branches.map(({ orphan, depth }) => [orphan, depth]), [[false, 0], [true, 0]]);
  assert.equal(forest.orphans, 1);
});

test("each span of a cycle is shown once", () => {
  assert.deepEqual(names([span("a", "c", 0, 9), span("b", "a", 1, 5), span("c", "b", 2, 2), span("self", "self", 4, 1)]),
    ["0a", "1b", "2c", "0self"]);
});

test("spans with equal ids are all shown", () => {
  assert.deepEqual(names([span("a", null, 0, 9), span("b", "a", 1, 3), span("b", "a", 2, 3), span("c", "b", 3, 1)]), ["0a", "1b", "2c", "1b"]);
});

test("a child that starts before its parent is moved into it, with its children", () => {
  const spans = [span("a", null, 1000, 100), span("b", "a", 900, 60), span("c", "b", 910, 10), span("long", "a", 990, 300)];
  const forest = forestOf(spans);
  const begins = (of: typeof forest): [string, number, number][] => of.branches.map((each) => [each.span.spanId, each.beginNs, each.shiftedNs]);

  assert.deepEqual(begins(forest), [["a", 0, 0], ["b", 20, 120], ["c", 30, 120], ["long", 0, 10]]);
  assert.equal(forest.shifted, 3);
  assert.deepEqual(begins(forestOf(spans, true)), [["a", 100, 0], ["b", 0, 0], ["c", 10, 0], ["long", 90, 0]]);
});

test("a chain of 20,000 spans does not overflow the stack", () => {
  const chain = Array.from({ length: 20_000 }, (_, at) => span(String(at), at ? String(at - 1) : null, at, 50_000 - at));
  const forest = forestOf(chain);

  assert.equal(forest.branches.at(-1)!.depth, 19_999);
  assert.equal(forest.branches[0]!.descendants, 19_999);
});
