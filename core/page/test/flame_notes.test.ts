import { test } from "node:test";
import assert from "node:assert/strict";
import { notesOf } from "../src/flame/stacks/notes.ts";
import { treeOf, treeOfPair } from "../src/model/tree.ts";
import type { WireTree } from "../src/model/wire.ts";
import { wireOf } from "./flame_browser.ts";

test("a note shows the share of incomplete stacks by reason, if above one percent", () => {
  const of = (tree: WireTree): string[] => notesOf(treeOf(tree));

  assert.deepEqual(of(wireOf({ "main;work": 990, "[thread end]": 10 })), []);
  assert.deepEqual(of(wireOf({ "main;work": 900, "main;[libz.so.1]": 50, "[thread end]": 20, "[truncated];deep;leaf": 30 })),
    ["5.0 % of the total has no complete stack: [truncated] 3.0 %, [thread end] 2.0 %."]);
  assert.deepEqual(of(wireOf({ "main;[signal blocked]": 1 })), ["100.0 % of the total has no complete stack: [signal blocked] 100.0 %."]);
  assert.deepEqual(of(wireOf({})), []);
});

test("a note shows the number of merged frames, of both sides in a comparison", () => {
  const tree = { ...wireOf({ "main;(other)": 9 }), merged: 12_345 };

  assert.deepEqual(notesOf(treeOf(tree)), ["The 12,345 smallest frames are merged into (other)."]);
  assert.deepEqual(notesOf(treeOfPair(tree, tree)), ["The 24,690 smallest frames are merged into (other)."]);
});
