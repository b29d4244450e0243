import { test } from "node:test";
import assert from "node:assert/strict";
import { changed, readAddress, writeAddress } from "../src/model/state.ts";

test("an address is read behind any prefix, and written relative to it", () => {
  const state = readAddress(new URL("http://a/pyroscope/comparison-diff?leftQuery=a.cpu&x=&leftQuery=b"));

  assert.deepEqual(state, { view: "comparison-diff", parameters: { leftQuery: "a.cpu" } });
  assert.equal(writeAddress(state), "comparison-diff?leftQuery=a.cpu");
  assert.equal(writeAddress(changed(state, { leftQuery: undefined }, "explore")), "./");
});
