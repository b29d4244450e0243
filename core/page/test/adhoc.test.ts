import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { truncateSync } from "node:fs";
import { gzipSync } from "node:zlib";
import type { Browser, ElementHandle } from "puppeteer-core";
import { cpuProfileParsed } from "../src/adhoc/cpuprofile.ts";
import { accessible } from "./axe.ts";
import { closeCleanly, open, startBrowser, type Opened } from "./browser.ts";
import { Directory, madeProfile } from "./profiles.ts";
import { Server } from "./server.ts";

let browser: Browser;
let files: Directory;
let server: Server;

before(async () => {
  files = new Directory();
  browser = await startBrowser();
  server = await Server.start();
});
after(async () => {
  await browser.close();
  files.dispose();
});

async function openAdhoc(width = 1400): Promise<Opened> {
  const opened = await open(browser, `${server.base}adhoc`, width);

  await opened.page.waitForSelector(".adhoc-drop input");
  return opened;
}

async function choose(opened: Opened, ...paths: string[]): Promise<void> {
  const input = await opened.page.$(".adhoc-drop input") as ElementHandle<HTMLInputElement>;

  await input.uploadFile(...paths);
}

async function text(opened: Opened, selector: string): Promise<string> {
  return await opened.page.$$eval(selector, (all) => all.map((each) => each.textContent).join("|"));
}

/** Waits for `count` open files and returns the text of their cards. */
async function cards(opened: Opened, count = 1): Promise<string> {
  await opened.page.waitForFunction((wanted) => document.querySelectorAll(".adhoc-file").length === wanted, {}, count);
  return await text(opened, ".adhoc-file");
}

const SAMPLES = [{ stack: ["main", "work"], count: 30, span: "GET /cart" }, { stack: ["main", "idle"], count: 5 }];
const PERF = `# captured on: today
ruby  4711/4712 [001]  1234.567890:   10101010 cpu-clock:uhppp:
\t    7f12aa rb_ary_sort+0x1f (/usr/lib/libruby.so.3.1)
\t    55aa10 main+0x10 (/usr/bin/ruby)

ruby  4711 1234.577890: cpu-clock:
\t    7f12aa rb_ary_sort+0x2f (/usr/lib/libruby.so.3.1)
\t    55aa10 main+0x10 (/usr/bin/ruby)

`;
const SPEEDSCOPE = {
  $schema: "https://www.speedscope.app/file-format-schema.json", shared: { frames: [{ name: "main" }, { name: "work", file: "a.js", line: 3 }] },
  profiles: [
    { type: "sampled", name: "one", unit: "milliseconds", startValue: 0, endValue: 30, samples: [[0, 1], [0]], weights: [20, 10] },
    {
      type: "evented", name: "two", unit: "milliseconds", startValue: 0, endValue: 5,
      events: [{ type: "O", frame: 0, at: 0 }, { type: "O", frame: 1, at: 1 }, { type: "C", frame: 1, at: 4 }, { type: "C", frame: 0, at: 5 }],
    },
  ],
};
const CHROME = {
  nodes: [
    { id: 1, callFrame: { functionName: "(root)", url: "", lineNumber: -1 }, children: [2, 4] },
    { id: 2, callFrame: { functionName: "main", url: "file:///a.js", lineNumber: 0 }, children: [3] },
    { id: 3, callFrame: { functionName: "", url: "file:///a.js", lineNumber: 9 } },
    { id: 4, callFrame: { functionName: "(idle)", url: "", lineNumber: -1 } },
  ],
  startTime: 0, endTime: 10_000, samples: [2, 3, 3, 4], timeDeltas: [0, 1000, 2000, 3000],
};
const KINDS: readonly (readonly [name: string, content: Uint8Array | string, expected: RegExp, functions: RegExp])[] = [
  ["plain.pb", madeProfile(SAMPLES), /pprof \u00b7 cpu 350 ms \u00b7 35 samples/, /(work)/],
  ["packed.whatever", gzipSync(madeProfile(SAMPLES)), /pprof \u00b7 cpu 350 ms/, /(work)/],
  ["stacks.txt", "main;work 30\nmain;with space 5\n", /folded stacks \u00b7 samples 35/, /with space/],
  ["packed.folded.gz", gzipSync("main;work 30\n"), /folded stacks \u00b7 samples 30/, /(work)/],
  ["perf.txt", PERF, /perf script \u00b7 cpu-clock:uhppp 10\.1 ms \u00b7 1 samples/, /rb_ary_sort/],
  ["a.json", JSON.stringify(SPEEDSCOPE), /speedscope \u00b7 time 35\.0 ms.*Sum of 2 threads/, /(work)/],
  ["a.cpuprofile", JSON.stringify(CHROME), /Chrome CPU profile \u00b7 cpu 6\.00 ms.*Excludes 0\.00 s of idle time/, /\(anonymous\)/],
];

test("each file format is recognised by its content", async () => {
  for (const [name, content, expected, functions] of KINDS) {
    const opened = await openAdhoc();
    await choose(opened, files.write(name, content));
    assert.match(await cards(opened), expected, name);
    assert.match(await text(opened, ".flame-table"), functions, name);
    await closeCleanly(opened);
  }
});

test("a file is stored only on request, and the page links to the stored profile", async () => {
  const opened = await openAdhoc();
  const posts: string[] = [];

  opened.page.on("request", (request) => {
    if (request.method() !== "GET")
      posts.push(request.url());
  });
  await choose(opened, files.write("stored.pb.gz", gzipSync(madeProfile(SAMPLES, [], Date.now() - 600_000))));
  await cards(opened);
  assert.deepEqual(posts, []);
  const { applications } = await (await fetch(`${server.base}api/v1/applications?from=now-1d`)).json() as { applications: unknown[] };
  assert.deepEqual(applications, []);

  await opened.page.click(".adhoc-store summary");
  await opened.page.$eval(".adhoc-store input", (field) => { field.value = "from-a-file"; });
  await opened.page.click(".adhoc-store button");
  await (await opened.page.waitForSelector(".adhoc-store a"))!.click();
  await opened.page.waitForSelector(".flame-table");
  assert.match(opened.page.url(), /service_name/);
  assert.match(await text(opened, ".flame-table"), /(work)/);
  const folded = await (await fetch(`${server.base}api/v1/profile?format=folded&from=now-1h&query=${encodeURIComponent('{service_name="from-a-file",span_name="GET /cart"}')}`)).text();
  assert.equal(folded.trim() === "" ? "" : folded.split(" ").at(-1)!.trim(), "300000000", "stored with its spans");
  await closeCleanly(opened);
});

test("formats other than pprof are stored with the displayed value", async () => {
  const opened = await openAdhoc();

  await choose(opened, files.write("node.cpuprofile", JSON.stringify(CHROME)));
  await cards(opened);
  await opened.page.click(".adhoc-store summary");
  await opened.page.click(".adhoc-store button");
  await opened.page.waitForSelector(".adhoc-store a");
  const folded = await (await fetch(`${server.base}api/v1/profile?format=folded&from=now-1h&query=${encodeURIComponent('{service_name="node"}')}`)).text();
  assert.deepEqual(folded.trim().split("\n").sort(), ["main 1000000", "main;(anonymous) 5000000"]);
  await closeCleanly(opened);
});

test("an error response of the server is shown", async () => {
  const opened = await openAdhoc();

  await choose(opened, files.write("old.pb", madeProfile(SAMPLES)));
  await cards(opened);
  await opened.page.click(".adhoc-store summary");
  await opened.page.$eval(".adhoc-store input[type=datetime-local]", (field) => { field.value = "2020-01-01T00:00:00"; });
  await opened.page.click(".adhoc-store button");
  await opened.page.waitForSelector(".adhoc-store .fault");
  assert.match(await text(opened, ".adhoc-store .fault"), /ingestion window|too old|older/);
  await closeCleanly(opened);
});

test("two files are compared, and can be swapped and closed", async () => {
  const opened = await openAdhoc();

  await choose(opened, files.write("before.folded", "main;work 300\nmain;idle 200\n"), files.write("after.folded", "main;work 600\n"));
  assert.match(await cards(opened, 2), /Baseline: before\.folded.*Comparison: after\.folded/);
  assert.match(await text(opened, ".flame-table"), /\+40\.00 pp/);
  await opened.page.click(".adhoc-tools button");
  assert.match(await text(opened, ".flame-table"), /\u221240\.00 pp/);
  await opened.page.click(".adhoc-file:nth-child(2) button");
  assert.match(await cards(opened, 1), /after\.folded/);
  assert.doesNotMatch(await text(opened, ".flame-table"), /idle/);
  await choose(opened, files.write("again.folded", "main;idle 7\n"));
  assert.match(await cards(opened, 2), /Baseline: after\.folded.*Comparison: again\.folded/);
  await closeCleanly(opened);
});

test("two files are compared by shares or by values", async () => {
  const opened = await openAdhoc();

  await choose(opened, files.write("shares.folded", "main;work 300\nmain;idle 200\n"), files.write("values.folded", "main;work 600\n"));
  await cards(opened, 2);
  const select = (await opened.page.waitForSelector("::-p-aria([name=\"Compare\"][role=\"combobox\"])"))!;
  await select.select("values");
  assert.match(await text(opened, ".flame-table"), /\+300/);
  assert.equal(new URL(opened.page.url()).searchParams.get("scale"), "values");
  await closeCleanly(opened);
});

test("a thread of a file can be chosen, and two threads compared", async () => {
  const opened = await openAdhoc();
  const path = files.write("threads.json", JSON.stringify(SPEEDSCOPE));

  await choose(opened, path);
  assert.match(await cards(opened), /time 35\.0 ms/);
  await opened.page.select(".adhoc-file select", "1");
  assert.match(await cards(opened), /time 5\.00 ms/);
  assert.equal(await opened.page.evaluate(() => document.activeElement?.tagName), "SELECT");
  await choose(opened, path);
  assert.match(await cards(opened, 2), /Baseline.*time 5\.00 ms.*Comparison.*time 35\.0 ms/s);
  await opened.page.select(".adhoc-file:nth-child(2) select", "0");
  assert.match(await cards(opened, 2), /Baseline.*time 5\.00 ms.*Comparison.*time 30\.0 ms/s);
  await accessible(opened.page, "threads");
  await closeCleanly(opened);
});

test("a file can be dropped anywhere, and stays open while other views are shown", async () => {
  const opened = await openAdhoc();

  await opened.page.evaluate(() => {
    const data = new DataTransfer();
    data.items.add(new File(["main;dropped 3\n"], "dropped.folded"));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  });
  assert.match(await cards(opened), /dropped\.folded/);
  await opened.page.evaluate(() => { history.pushState(null, "", "spans"); dispatchEvent(new PopStateEvent("popstate")); });
  await opened.page.waitForFunction(() => document.querySelector(".adhoc-drop") === null);
  await opened.page.goBack();
  assert.match(await cards(opened), /dropped\.folded/);
  await closeCleanly(opened);
});

test("unreadable files are reported, and the open file stays", async () => {
  const opened = await openAdhoc();
  const huge = files.write("huge.pb", "");

  truncateSync(huge, 100 << 20);
  await choose(opened, files.write("good.folded", "main 1\n"));
  await cards(opened);
  for (const [path, expected] of [
    [files.write("text.md", "# Title\nno stacks\n"), /text\.md: it is text of another kind; supported formats: pprof/],
    [files.write("empty", ""), /empty: it is empty/],
    [files.write("broken.gz", gzipSync("main;work 30\n".repeat(100)).subarray(0, 30)), /its gzip data is corrupt or incomplete/],
    [files.write("cut.pb", madeProfile(SAMPLES).subarray(0, 40)), /cut\.pb: it is not a (complete )?pprof profile/],
    [files.write("perf.data", "PERFILE2xxxx"), /open the output of `perf script`/],
    [files.write("trace.json", '{"traceEvents":[]}'), /event trace/],
    [files.write("other.json", '{"a":1}'), /neither speedscope, /],
    [files.write("half.json", '{"a":'), /corrupt or incomplete/],
    [files.write("bad.json", JSON.stringify({ ...SPEEDSCOPE, profiles: [{ type: "sampled", unit: "none", samples: [[9]], weights: [1] }] })), /refers to a missing frame/],
    [files.write("nothing.pb", madeProfile([])), /has no samples/],
    [huge, /it has 100 MiB, more than the limit of 64 MiB/],
  ] as const) {
    await choose(opened, path);
    await opened.page.waitForFunction((source, flags) => new RegExp(source, flags).test(document.querySelector(".adhoc-faults")!.textContent), { timeout: 20_000 }, expected.source, expected.flags)
      .catch(async () => { assert.match(await text(opened, ".adhoc-faults"), expected); });
    assert.match(await cards(opened), /good\.folded/);
  }
  await closeCleanly(opened);
});

test("malformed JSON of a known format is reported", async () => {
  const opened = await openAdhoc();
  const weighing = (...weights: (number | null)[]): object => ({ ...SPEEDSCOPE, profiles: [{ ...SPEEDSCOPE.profiles[0], weights }] });

  for (const [name, data, expected] of [
    ["shared.json", { profiles: [], shared: null }, "neither speedscope, .cpuprofile"],
    ["profile.json", { profiles: [null], shared: { frames: [] } }, "it looks like speedscope, but a part is missing or has the wrong type"],
    // The program speedscope refuses negative weights, too.
    ["negative.json", weighing(20, -10), "a sample of the speedscope profile has a negative weight"],
    ["null.json", weighing(20, null), "a value of the speedscope profile is not a number"],
    ["large.json", weighing(20, 1e308), "a value of the speedscope profile is too large"],
    ["node.cpuprofile", { nodes: [CHROME.nodes[0], null] }, "it looks like .cpuprofile, but a part is missing or has the wrong type"],
    ["delta.cpuprofile", { ...CHROME, timeDeltas: ["a", "b"] }, "a value of the .cpuprofile is not a number"],
  ] as const) {
    await choose(opened, files.write(name, JSON.stringify(data)));
    await opened.page.waitForFunction((wanted) => document.querySelector(".adhoc-faults")?.textContent.includes(wanted), {}, `${name}: `);
    assert.match(await text(opened, ".adhoc-faults"), new RegExp(expected));
    assert.equal(await opened.page.$("[aria-busy=true]"), null);
  }
  await closeCleanly(opened);
});

test("a .cpuprofile whose clock steps back counts no time twice", () => {
  const { values } = cpuProfileParsed({ ...CHROME, nodes: CHROME.nodes, samples: [2, 3, 2], timeDeltas: [0, 100, -40], startTime: 0, endTime: 120 });

  // In microseconds: the samples start at 0, 100 and 60, and the last one ends at 120.
  // The first one has 100, and the second 0, since the third starts earlier. The third
  // has 20, since the time until 100 is counted already. The sum is 120,000 ns.
  assert.equal(values[0]!.tree.nodes.self.reduce((sum, each) => sum + each, 0), 120_000);
});

test("negative samples of a difference of profiles are excluded with a note", async () => {
  const opened = await openAdhoc();

  await choose(opened, files.write("diff.pb", madeProfile([{ stack: ["main", "more"], count: 30 }, { stack: ["main", "less"], count: -10 }])));
  assert.match(await cards(opened), /cpu 300 ms.*Excludes negative samples of cpu \(1\)/s);
  await closeCleanly(opened);
});

test("values of the same name are compared only in the same unit", async () => {
  const opened = await openAdhoc();
  const timed = (unit: string): string => JSON.stringify({ ...SPEEDSCOPE, profiles: [{ type: "sampled", unit, samples: [[0]], weights: [1] }] });
  const counted = files.write("counted.pb", madeProfile([{ stack: ["main"], count: 3 }], [], Date.now(), ["cpu", "cycles"]));

  await choose(opened, files.write("seconds.pb", madeProfile(SAMPLES)), counted);
  await opened.page.waitForFunction(() => document.querySelector(".adhoc-faults")?.textContent.includes("with the same name and unit"));
  assert.match(await cards(opened), /counted\.pb/);
  await choose(opened, files.write("s.json", timed("seconds")), files.write("ms.json", timed("milliseconds")));
  assert.match(await cards(opened, 2), /Baseline: s\.json.*Comparison: ms\.json/s);
  await closeCleanly(opened);
});

test("names are shown as text", async () => {
  const opened = await openAdhoc();
  const names = ["<img src=x onerror=alert(1)>", "\u202egnp.exe", "a".repeat(100_000)];

  await choose(opened, files.write("<b>.pb", madeProfile(names.map((name) => ({ stack: ["main", name], count: 20 })))));
  assert.match(await cards(opened), /<b>\.pb/);
  assert.equal(await opened.page.$$eval("img", (all) => all.length), 0);
  assert.doesNotMatch(await text(opened, "#view"), /\u202e/);
  assert.ok(await opened.page.$eval("body", (body) => body.scrollWidth <= innerWidth));
  await closeCleanly(opened);
});

test("axe finds no serious problems in both themes and on narrow screens", async () => {
  for (const [width, scheme] of [[1400, "light"], [700, "dark"]] as const) {
    const opened = await openAdhoc(width);
    await opened.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await choose(opened, files.write("axe-a.folded", "main;work 30\n"), files.write("axe-b.folded", "main;work 40\n"));
    await cards(opened, 2);
    await accessible(opened.page, `${width} ${scheme}`);
    await closeCleanly(opened);
  }
});
