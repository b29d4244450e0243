import { test } from "node:test";
import assert from "node:assert/strict";
import { indexOfColumn } from "../src/query/box.ts";
import { isFirstWanted } from "../src/query/complete.ts";
import { pairEdit } from "../src/query/pairs.ts";
import { TYPE_DEFAULT, typeOf } from "../src/model/choice.ts";
import { applicationOf, parseQuery, unquoted, quoted, withApplication, withMatcher, withoutMatcher, withoutValue } from "../src/query/parse.ts";

const caretIn = (marked: string): ReturnType<typeof parseQuery>["place"] =>
  parseQuery(marked.replace("^", ""), marked.indexOf("^")).place;

test("the part at the caret is recognised", () => {
  assert.deepEqual(caretIn("sh^op"), { kind: "head", start: 0, text: "sh" });
  assert.deepEqual(caretIn("shop.cpu{^"), { kind: "name", start: 9, text: "" });
  assert.deepEqual(caretIn('shop.cpu{a="b", ho^'), { kind: "name", start: 16, text: "ho" });
  assert.deepEqual(caretIn("{host ^"), { kind: "operator", start: 5, text: " " });
  assert.deepEqual(caretIn('{host=~"web^-1",x="y"}'),
    { kind: "value", start: 7, text: "web", name: "host", operator: "=~", quoted: true });
  assert.equal(caretIn('{host="a"}^').kind, "none");
});

test("matchers are parsed with all kinds of quotes", () => {
  const query = "shop.cpu{a=\"x\\\"}\", b!='y', c=~`z\\d`, d!~\"\u{1f600}\"";

  assert.deepEqual(parseQuery(query).matchers.map(({ name, operator, value }) => [name, operator, value]),
    [["a", "=", 'x"}'], ["b", "!=", "y"], ["c", "=~", "z\\d"], ["d", "!~", "\u{1f600}"]]);
  assert.equal(withoutMatcher(query, 3), "shop.cpu{a=\"x\\\"}\",b!='y',c=~`z\\d`}");
  for (const text of ["", 'a"b', "\\", "a\nb", "\u202e", "`"])
    assert.equal(unquoted(quoted(text)), text);
});

test("a change of the application keeps the matchers except those of one span", () => {
  assert.equal(withApplication('shop.cpu{host="a",profile_id="1"}', "mail"), '{service_name="mail",host="a"}');
  assert.equal(withApplication('process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name="a",x!="y"}', "b"),
    'process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name="b",x!="y"}');
  assert.equal(applicationOf('{service_name="my \\"shop\\"",x="y"}'), 'my "shop"');
  assert.equal(applicationOf("shop.cpu{}"), "shop");
  assert.equal(applicationOf("shop.cpu{}", ["shop.cpu"]), "shop.cpu");
  assert.equal(applicationOf('{service_name=~"a|b"}'), null);
  assert.equal(withMatcher('shop.cpu{host="a",host!~"b"}', "host", "c"), 'shop.cpu{host!~"b",host="c"}');
});

test("a value is excluded, and included and excluded values replace each other", () => {
  assert.equal(withoutValue("shop.cpu", "host", "a"), 'shop.cpu{host!="a"}');
  assert.equal(withoutValue('shop.cpu{host="a",env="x"}', "host", "a"), 'shop.cpu{env="x",host!="a"}');
  assert.equal(withoutValue('{host="a",host!="b"}', "host", "b"), '{host="a",host!="b"}');
  assert.equal(withMatcher('{host!="a",host!="b"}', "host", "a"), '{host!="b",host="a"}');
  assert.equal(withoutValue("shop.inuse_space{}", "service_name", "shop"), 'memory:inuse_space:bytes:space:bytes{service_name!="shop"}');
  assert.equal(withoutValue("shop.cpu", "service_name", "mail"), 'shop.cpu{service_name!="mail"}');
  assert.equal(withoutValue("{}", "a-b", ""), '{"a-b"!=""}');
});

test("brackets and quotes are closed, overtyped and removed together", () => {
  // "^" is the caret before and after the key; null: the browser's own effect.
  const typed = (marked: string, key: string): string | null => {
    const text = marked.replace("^", "");
    const edit = pairEdit(text, marked.indexOf("^"), key);
    const after = edit && text.slice(0, edit.start) + edit.insert + text.slice(edit.end);
    return edit && `${after!.slice(0, edit.caret)}^${after!.slice(edit.caret)}`;
  };

  assert.equal(typed("shop.cpu^", "{"), "shop.cpu{^}");
  assert.equal(typed("^shop.cpu", "{"), null);
  assert.equal(typed("shop.cpu{^}", "{"), null);
  assert.equal(typed("shop.cpu{^}", "}"), "shop.cpu{}^");
  assert.equal(typed('{host="^}', "}"), null);
  assert.equal(typed("{host=^}", '"'), '{host="^"}');
  assert.equal(typed('{host="a^"}', '"'), '{host="a"^}');
  assert.equal(typed('{host="\\^"}', '"'), null);
  assert.equal(typed("{host^}", '"'), null);
  assert.equal(typed("shop{^}", "Backspace"), "shop^");
  assert.equal(typed('{host="^"}', "Backspace"), "{host=^}");
  assert.equal(typed("^{}", "Backspace"), null);
  assert.equal(typed("{a^}", "a"), null);
});

test("Enter accepts the first option only if the query needs it", () => {
  const option = (text: string): Parameters<typeof isFirstWanted>[0][number] => ({ text, hint: "", insert: text, start: 0, end: 0, back: 0 });
  const wanted = (marked: string, ...texts: string[]): boolean => isFirstWanted(texts.map(option), marked.replace("^", ""), marked.indexOf("^"));

  assert.equal(wanted("sea^", "search"), true);
  assert.equal(wanted("search^", "search", "search2"), false);
  assert.equal(wanted("shop.cpu{^}", "host"), false);
  assert.equal(wanted("shop.cpu{h^}", "host"), true);
  assert.equal(wanted("shop.cpu{host^}", "="), true);
  assert.equal(wanted("shop.cpu{host=^}", "=", "=~"), true);
  assert.equal(wanted('shop.cpu{host="^"}', "web-1"), true);
  assert.equal(wanted('shop.cpu{host="web-1^"}', "web-1", "web-10"), false);
  assert.equal(wanted('shop.cpu{host="web-1"}^'), false);
});

test("escapes are read like on the server and kept as typed", () => {
  assert.equal(unquoted('"\\x41\\101\\u00e9\\U0001f600\\a\\v\\\\\\""'), 'AA\u00e9\u{1f600}\u0007\v\\"');
  assert.equal(unquoted('"caf\\xc3\\xa9, caf\\303\\251"'), "caf\u00e9, caf\u00e9");
  assert.equal(unquoted("'it\\'s'"), "it's");
  assert.equal(unquoted('"\\Uffffffff"'), "\ufffd");
  assert.equal(withApplication('{host="caf\\u00e9"}', "mail"), '{service_name="mail",host="caf\\u00e9"}');
  assert.equal(withMatcher("{host='\\x41'}", "env", "a"), "{host='\\x41',env=\"a\"}");
});

test("matchers after a quoted metric name are parsed", () => {
  const query = '{"memory:inuse_space:bytes:space:bytes", host="a"}';

  assert.deepEqual(parseQuery(query).matchers.map(({ name, value }) => [name, value]),
    [["__name__", "memory:inuse_space:bytes:space:bytes"], ["host", "a"]]);
  assert.equal(withMatcher(query, "env", "b"), '{"memory:inuse_space:bytes:space:bytes",host="a",env="b"}');
  assert.equal(withApplication(query, "mail"), 'memory:inuse_space:bytes:space:bytes{service_name="mail",host="a"}');
});

test("the type comes from the parameter, the query or the classic application", () => {
  const heap = "memory:inuse_space:bytes:space:bytes";

  assert.equal(typeOf({}), TYPE_DEFAULT);
  assert.equal(typeOf({ query: 'shop{a="b"}' }), TYPE_DEFAULT);
  for (const parameters of [{ query: `${heap}{}` }, { query: `${heap}:delta{}` }, { query: `{"${heap}"}` }, { query: `{__name__="${heap}"}` },
    { query: "shop.inuse_space{}" }, { query: "shop.cpu", type: heap }, { type: "inuse_space" }])
    assert.equal(typeOf(parameters), heap, JSON.stringify(parameters));
  // The server replaces "goroutines", the former name of the type (selector.c).
  assert.equal(typeOf({ query: "shop.goroutines" }), "goroutine:goroutine:count:goroutine:count");
  assert.equal(withApplication("shop.inuse_space{}", "mail"), `${heap}{service_name="mail"}`);
});

test("a column in bytes is converted to an index", () => {
  assert.equal(indexOfColumn("{x", 3), 2);
  assert.equal(indexOfColumn('{a="\u00e9\u{1f600}",!', 13), 9);
  assert.equal(indexOfColumn("ab", 99), 2);
});
