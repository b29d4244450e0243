import { describe, test } from "node:test";
import assert from "node:assert/strict";
import { COLOURS, colouringOf, DARK, fillsOf, LIGHT } from "../src/flame/graph/colour.ts";
import { entriesOf } from "../src/flame/graph/legend.ts";
import { scaled } from "../src/flame/stacks/derive.ts";
import { graphOf } from "../src/flame/graph/graph.ts";
import { kindOf, packageOf } from "../src/flame/stacks/package.ts";
import { captioned, svgOf } from "../src/flame/graph/picture.ts";
import { amount, percent } from "../src/parts/format.ts";
import { functionsOf, treeOfStacks } from "./stacks.ts";

/** https://www.w3.org/TR/WCAG21/#dfn-relative-luminance */
function luminance(colour: string): number {
  const channel = (at: number): number => {
    const value = parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };

  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}

function contrast(a: string, b: string): number {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];

  return (light + 0.05) / (dark + 0.05);
}

describe("colours", () => {
  test("text meets WCAG AA on each of its fills", () => {
    for (const theme of [LIGHT, DARK]) {
      for (const colour of COLOURS)
        for (const fill of fillsOf(theme, colour))
          assert.ok(contrast(fill, theme.text) >= 4.5, `${theme.text} on ${fill}: ${contrast(fill, theme.text)}`);
      assert.ok(contrast(theme.above, theme.aboveText) >= 4.5);
      assert.ok(contrast(theme.other, theme.otherText) >= 4.5);
    }
  });

  test("less, equal and more have different colours", () => {
    const functions = functionsOf(4);
    const stacks = [[0, 100, 0], [1, 0, 100], [2, 50, 50], [3, 60, 49]].map(([id, value, base]) => ({ frames: [id!], value: value!, base: base! }));
    const graph = graphOf(scaled(treeOfStacks(stacks, functions, true), "values"), "name");
    const colouring = colouringOf(graph, undefined);

    assert.deepEqual([0, 1, 2, 3].map((id) => colouring.fillOf(graph.functionOf.indexOf(id))), [20, 0, 10, 13]);
    assert.equal(colouringOf(graph, "nonsense").colour, "change");
    assert.equal(colouringOf(graphOf(treeOfStacks(stacks, functions), "name"), "change").colour, "package");
  });
});

describe("the legend", () => {
  const functions = { name: ["main", "wait", "sum"], file: ["/srv/shop/app.rb", "/b/gems/puma-6.4.0/lib/puma.rb", "/usr/lib/libm.so.6"], line: [1, 1, 0] };
  // puma has little self time and the largest area.
  const graph = graphOf(treeOfStacks([
    { frames: [1, 1, 1, 0], value: 90, base: 0 }, { frames: [1, 1, 2], value: 9, base: 0 }, { frames: [1], value: 1, base: 0 },
  ], functions), "name");
  const shown = (zoom: number): [string, number, number][] => entriesOf(graph, zoom, 1000, "package")
    .map(({ name, area, self }) => [name, Math.round(area * 1000), Math.round(self * 1000)]);

  test("lists the visible packages by their area, with their self time", () => {
    assert.deepEqual(shown(0), [["puma", 745, 10], ["srv/shop", 232, 900], ["libm", 23, 90]]);
  });

  test("lists only packages below the zoomed frame", () => {
    const index = graph.functionOf.indexOf(2);
    assert.deepEqual(shown(index), [["libm", 1000, 1000]]);
  });
});

describe("package and kind of a function", () => {
  const FILES: readonly (readonly [string, string])[] = [
    ["/usr/lib/ruby/gems/3.1.0/gems/activerecord-7.0.4/lib/active_record/base.rb", "activerecord"],
    ["/b/vendor/bundle/ruby/3.1.0/gems/nokogiri-1.13.10-x86_64-linux/lib/nokogiri.rb", "nokogiri"],
    ["/b/ruby/3.1.0/bundler/gems/my-thing-0123456789ab/lib/x.rb", "my-thing"],
    ["/usr/lib/ruby/3.1.0/json/common.rb", "Ruby standard library"],
    ["<internal:kernel>", "Ruby standard library"],
    ["/usr/lib/python3/dist-packages/requests/api.py", "requests"],
    ["/venv/lib/python3.11/site-packages/six.py", "six"],
    ["/usr/lib/python3.11/json/decoder.py", "Python standard library"],
    ["/usr/lib/x86_64-linux-gnu/libc.so.6", "libc"],
    ["/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1.2", "libruby"],
    ["/srv/shop/app/models/order.rb", "app/models"],
    ["main.c", "main.c"],
  ];

  test("the package is a gem, a Python package, a shared object or a folder", () => {
    for (const [file, wanted] of FILES)
      assert.equal(packageOf("f", file), wanted, file);
    assert.equal(packageOf("[unknown]", ""), "[unknown]");
    assert.ok(packageOf("f", `/gems/${"a-1".repeat(100_000)}`).length < 1200);
  });

  test("without a file, the package is the class, namespace or module of the name", () => {
    for (const [name, wanted] of [
      ["Integer#times", "Integer"], ["Shop::Cart#total", "Shop"], ["block (2 levels) in Shop::Cart.all", "Shop"], ["JSON.parse", "JSON"],
      ["std::vector<std::string>::push_back(std::string const&)", "std"], ["void app::run<int>(int)", "app"], ["(anonymous namespace)::helper(int)", "helper"],
      ["github.com/gin-gonic/gin.(*Engine).ServeHTTP", "github.com/gin-gonic/gin"], ["runtime.mallocgc", "runtime"], ["java/util/HashMap.get", "java/util/HashMap"],
      ["libc.so.6`malloc", "libc"], ["malloc", "malloc"], ["[libz.so.1]", "libz"], ["(other)", "(other)"], ["operator new(unsigned long)", "new"], ["<lambda>", "<lambda>"],
    ] as const)
      assert.equal(packageOf(name, ""), wanted, name);
  });

  test("the kind is derived from name and file", () => {
    const kinds = [
      kindOf("Order#total", "/app/order.rb"), kindOf("f", "<frozen importlib._bootstrap>"), kindOf("rb_vm_exec", "/usr/lib/libruby-3.1.so.3.1"),
      kindOf("_PyEval", "/usr/bin/python3.11"), kindOf("memcpy", "/lib/libc.so.6"), kindOf("main", ""), kindOf("(garbage collection)", ""),
      kindOf("gc_mark", "/usr/lib/libruby-3.1.so.3.1"), kindOf("do_syscall_64", "[kernel.kallsyms]"), kindOf("[truncated]", ""),
    ];

    assert.deepEqual(kinds, ["interpreted", "interpreted", "interpreter", "interpreter", "native", "native", "gc", "gc", "kernel", "note"]);
  });
});

test("a value has three digits and less than 1000 of its unit", () => {
  assert.deepEqual([999.6e6, -999.6e6, 999.4e6, 1e9, 59.99e9, 0, 12.34e9].map((value) => amount(value, "nanoseconds")),
    ["1.00 s", "-1.00 s", "999 ms", "1.00 s", "1.00 min", "0 ns", "12.3 s"]);
  assert.deepEqual([-0.3, -0, -0.6].map((value) => amount(value, "nanoseconds")), ["0 ns", "0 ns", "-1 ns"]);
  assert.equal(percent(-0.00001), "0.00 %");
  assert.deepEqual([999.6e6, 1023.9 * 1024].map((value) => amount(value, "bytes")), ["953 MiB", "1.00 MiB"]);
});

const PICTURE = {
  width: 10, height: 20, background: "#ffffff", foreground: "#000000", fontFamily: "a, \"b\"", fontPx: 12,
  rectangles: [{ x: 0.123456, y: 0, width: 10, height: 19, fill: "#d9dde4" }],
  texts: [{ x: 4, y: 10, width: 2, text: "<script>&\"'\ud800", fill: "#1b1e24" }],
};

test("text in SVG is escaped and clipped", () => {
  const svg = svgOf(PICTURE);

  assert.ok(svg.includes("&#60;script&#62;&#38;&#34;&#39;\ufffd</text>"), svg);
  assert.match(svg, /<svg x="4" y="-2" width="2" height="24"><text y="12"/, "clipped at the edge of its frame");
  const withCaption = captioned({ ...PICTURE, width: 200 }, ["shop <cpu>", "x".repeat(40)], "http://a/?b&c");
  assert.equal(withCaption.height, 20 + 4 * 20);
  assert.deepEqual(withCaption.texts.map((each) => each.text.length), [10, 25, 15, 13, PICTURE.texts[0]!.text.length]);
  assert.ok(svgOf(withCaption).includes('<a href="http://a/?b&#38;c"><text'));
  assert.ok(svg.includes("x=\"0.12\"") && svg.includes("font-family=\"a, &#34;b&#34;\""));
});
