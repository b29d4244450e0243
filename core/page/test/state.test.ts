import { test } from "node:test";
import assert from "node:assert/strict";
import { withChange, openedState, readAddress, writeAddress } from "../src/model/state.ts";

test("an address is parsed with any prefix and written relative to it", () => {
  const state = readAddress(new URL("http://a/pyroscope/comparison-diff?leftQuery=a.cpu&x=&leftQuery=b"));

  assert.deepEqual(state, { view: "comparison-diff", parameters: { leftQuery: "a.cpu" } });
  assert.equal(writeAddress(state), "comparison-diff?leftQuery=a.cpu");
  assert.equal(writeAddress(withChange(state, { leftQuery: undefined }, "explore")), "./");
});

test("only views with a range keep live mode, and a query for a span opens Explore if the page wrote the address", () => {
  const live = readAddress(new URL("http://a/?live=1&query=shop.cpu"));
  const query = 'shop.cpu{profile_id="08d12e6b76c84d11"}';
  const written = writeAddress({ view: "explore", parameters: { query } });

  assert.deepEqual(withChange(live, {}, "spans").parameters, { live: "1", query: "shop.cpu" });
  assert.deepEqual(withChange(live, {}, "comparison").parameters, { query: "shop.cpu" });
  assert.equal(openedState(readAddress(new URL(written, "http://a/"))).view, "explore");
  assert.equal(writeAddress(withChange(readAddress(new URL(written, "http://a/")), { query: "shop.cpu" })), "./?query=shop.cpu");
});

test("a link to a span opens the Span view and keeps the other parameters", () => {
  const link = new URL("http://a/?query=shop.cpu%7Bprofile_id%3D%2208d12e6b76c84d11%22%7D&from=1795434000&until=1795437600");

  assert.deepEqual(openedState(readAddress(link)), {
    view: "span", parameters: { query: "shop.cpu{}", from: "1795434000", until: "1795437600", span: "08d12e6b76c84d11" },
  });
  for (const query of ["shop.cpu{profile_id!=\"a\"}", "shop.cpu{profile_id=\"\"}", "shop.cpu"])
    assert.equal(openedState({ view: "explore", parameters: { query } }).view, "explore");
});
