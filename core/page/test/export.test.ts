import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { File as NodeFile } from "node:buffer";
import { existsSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { Browser } from "puppeteer-core";
import { csvOf } from "../src/export/csv.ts";
import { foldedOf } from "../src/export/folded.ts";
import { speedscopeOf } from "../src/export/speedscope.ts";
import type { ParsedValue } from "../src/adhoc/parsed.ts";
import { readFile } from "../src/adhoc/read.ts";
import { speedscopeParsed, type Speedscope } from "../src/adhoc/speedscope.ts";
import { closeCleanly, open, startBrowser, type Opened } from "./browser.ts";
import { Directory, madeProfile, rawByGo, readByGo, spanprof } from "./profiles.ts";
import type { Tree } from "../src/model/tree.ts";
import { Server } from "./server.ts";
import { pushSpan, spanId } from "./shop.ts";

const STACKS = [
  { stack: ["main", "work"], count: 30 }, { stack: ["main", "work", "</script>"], count: 12 },
  { stack: ["main", "\u00fc; semi"], count: 5 }, { stack: ["main", "$& $1", "main"], count: 1 },
];
const EXPECTED = { "main;work": 300_000_000, "main;work;</script>": 120_000_000, "main;\u00fc; semi": 50_000_000, "main;$& $1;main": 10_000_000 };
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

/** Exports the graph and returns the path of the file. */
async function exported(opened: Opened, format: string, ending: string): Promise<string> {
  const session = await opened.page.createCDPSession();
  const done = new Promise<string>((resolve, reject) => {
    session.on("Browser.downloadWillBegin", ({ suggestedFilename }) => {
      assert.ok(suggestedFilename.endsWith(`.${ending}`), suggestedFilename);
    });
    session.on("Browser.downloadProgress", ({ state, guid }) => {
      if (state === "completed")
        resolve(`${files.path}/${guid}`);
      else if (state === "canceled")
        reject(new Error("the download was cancelled"));
    });
  });

  await session.send("Browser.setDownloadBehavior", { behavior: "allowAndName", downloadPath: files.path, eventsEnabled: true });
  await opened.page.click(".export > button");
  await (await opened.page.waitForSelector(`.export-formats ::-p-text(${format})`))!.click();
  const path = await done;
  await session.detach();
  assert.ok(existsSync(path));
  return path;
}

function page(name: string, ...words: string[]): string {
  const path = `${files.path}/${name}.html`;

  spanprof("report", "--html", path, ...words);
  return pathToFileURL(path).href;
}

/** The sum of the default value of a file in "Open file". */
async function openedTotal(name: string, content: string | Uint8Array<ArrayBuffer>): Promise<number> {
  const { values } = await readFile(new NodeFile([content], name) as unknown as File);

  return values[0]!.tree.nodes.self.reduce((sum, each) => sum + each, 0);
}

function profile(name: string, factor = 1): string {
  return files.write(`${name}.pb`, madeProfile(STACKS.map((each) => ({ ...each, count: each.count * factor }))));
}

test("pprof exported from a report has exactly the profile's stacks", async () => {
  const opened = await open(browser, page("pprof", profile("pprof")));
  const path = await exported(opened, "pprof", "pb.gz");

  assert.deepEqual(readByGo(path), EXPECTED);
  assert.match(spanprof("report", "--json", path), /"value":480000000,"samples":48,/);
  await closeCleanly(opened);
});

test("folded stacks have the same sums, and names without semicolons", async () => {
  const opened = await open(browser, page("folded", profile("folded")));
  const lines = readFileSync(await exported(opened, "Folded", "folded"), "utf8").trimEnd().split("\n").filter((line) => !line.startsWith("#"));

  assert.deepEqual(Object.fromEntries(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))])),
    { "main;work": 300_000_000, "main;work;</script>": 120_000_000, "main;\u00fc: semi": 50_000_000, "main;$& $1;main": 10_000_000 });
  await closeCleanly(opened);
});

const COMPARED: Tree = {
  type: "cpu", unit: "nanoseconds", functions: { name: ["a", "=1+1"], file: ["", "x,\"y\".rb"], line: [0, 7] }, parent: Uint32Array.of(0, 0, 1), functionOf: Int32Array.of(-1, 0, 1),
  self: Float64Array.of(3, 4, 5), baseSelf: Float64Array.of(1.4, 2.6, 0), samples: null, baseSamples: null, comparison: null, merged: 0,
};
const ORIGIN = { lines: ["{a=\"b\"} \u00b7 10:00 \u2013 11:00 UTC", "build 7"], link: "http://host/?query=x" };

test("folded stacks have integers, a line for stacks without frames, and comments that are no stacks", () => {
  assert.equal(foldedOf(COMPARED, "shop\n9", ORIGIN),
    "# shop \"9\"\n# {a=\"b\"} \u00b7 10:00 \u2013 11:00 UTC\n# build \"7\"\n# http://host/?query=x\n[no frame] 1 3\na 3 4\na;=1+1 0 5\n");
});

test("CSV has both sides of a comparison, and no formulas", () => {
  assert.deepEqual(csvOf(COMPARED, "shop", ORIGIN).split("\r\n"), [
    "# shop\n# {a=\"b\"} \u00b7 10:00 \u2013 11:00 UTC\n# build \"7\"\n# http://host/?query=x\n"
    + "\"function\",\"file\",\"line\",\"self (nanoseconds)\",\"total (nanoseconds)\",\"baseline self (nanoseconds)\",\"baseline total (nanoseconds)\"",
    "\"a\",\"\",,4,9,2.6,2.6", "\"'=1+1\",\"x,\"\"y\"\".rb\",7,5,5,0,0", "",
  ]);
});

test("a comment and a frame that begin with # differ in folded stacks", async () => {
  const tree: Tree = { ...COMPARED, functions: { ...COMPARED.functions, name: ["#a", "b 7"] }, baseSelf: null };
  const text = foldedOf(tree, "shop 5.5", ORIGIN);

  assert.ok(text.endsWith("\n[no frame] 3\n #a 4\n #a;b 7 5\n"), text);
  // The rules of flamegraph.pl and inferno for lines with a stack.
  assert.equal(text.split("\n").filter((line) => /^.*\s\d+(\.\d*)?$/.test(line)).length, 3);
  assert.equal(await openedTotal("hash.folded", text), 12);
});

test("exports of a comparison are read with both sides", async () => {
  const folded = await readFile(new NodeFile([foldedOf(COMPARED, "shop", ORIGIN)], "pair.folded") as unknown as File);
  const sum = (values: readonly ParsedValue[] | undefined): number => values![0]!.tree.nodes.self.reduce((all, each) => all + each, 0);
  assert.deepEqual([sum(folded.before), sum(folded.values)], [4, 12]);
  const path = files.write("pair.folded", foldedOf(COMPARED, "shop", ORIGIN));
  for (const [type, total] of [["before", 4], ["samples", 12]] as const) {
    const lines = spanprof("report", "--folded", "--type", type, path).trim().split("\n");
    assert.equal(lines.reduce((all, line) => all + Number(line.slice(line.lastIndexOf(" "))), 0), total, type);
  }
  const { threads } = await readFile(new NodeFile([speedscopeOf(COMPARED, "shop", ORIGIN)], "pair.json") as unknown as File);
  assert.deepEqual(threads!.map(({ name, values }) => [name, sum(values)]), [["cpu, baseline", 4], ["cpu, comparison", 12]]);
});

test("report and Open file read the exports with the same totals", async () => {
  const opened = await open(browser, page("totals", profile("totals")));
  const total = 480_000_000;

  for (const [format, ending] of [["pprof", "pb.gz"], ["Folded stacks", "folded"], ["speedscope", "speedscope.json"]] as const) {
    const path = files.write(`read.${ending}`, readFileSync(await exported(opened, format, ending)));
    const lines = spanprof("report", "--folded", path).trim().split("\n");
    assert.equal(lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0), total, format);
    assert.equal(await openedTotal(`read.${ending}`, readFileSync(path)), total, format);
  }
  const [, ...rows] = readFileSync(await exported(opened, "CSV", "csv"), "utf8").split("\r\n");
  assert.equal(rows.filter((row) => row !== "").reduce((sum, row) => sum + Number(row.split(",").at(-3)), 0), total, "CSV");
  const file = await open(browser, pathToFileURL(files.write("read.html", readFileSync(await exported(opened, "HTML", "html")))).href);
  assert.equal(Object.values(readByGo(await exported(file, "pprof", "pb.gz"))).reduce((sum, each) => sum + each, 0), total, "HTML");
  await closeCleanly(file);
  await closeCleanly(opened);
});

test("speedscope's format has a profile for each side of a comparison", () => {
  const file = JSON.parse(speedscopeOf(COMPARED, "shop", ORIGIN)) as Speedscope & { name: string };

  assert.equal(file.name, "shop \u00b7 {a=\"b\"} \u00b7 10:00 \u2013 11:00 UTC \u00b7 build 7 \u00b7 http://host/?query=x");
  assert.deepEqual(file.profiles.map(({ samples, weights }) => ({ samples, weights })),
    [{ samples: [[], [0]], weights: [1.4, 2.6] }, { samples: [[], [0], [0, 1]], weights: [3, 4, 5] }]);
});

test("exported speedscope and CSV files have the stacks and functions of the profile", async () => {
  const opened = await open(browser, page("tables", profile("tables")));
  const file = JSON.parse(readFileSync(await exported(opened, "speedscope", "speedscope.json"), "utf8")) as Speedscope;
  const csv = readFileSync(await exported(opened, "CSV", "csv"), "utf8");

  const { functions, nodes } = speedscopeParsed(file).values[0]!.tree;
  const paths = nodes.parent.map(() => "");
  nodes.parent.forEach((parent, node) => {
    paths[node] = node === 0 ? "" : `${paths[parent] === "" ? "" : `${paths[parent]!};`}${functions.name[nodes.function[node]!]!}`;
  });
  assert.deepEqual(Object.fromEntries(nodes.self.map((value, node) => [paths[node]!, value] as const).filter(([, value]) => value > 0)), EXPECTED);
  assert.ok(csv.includes('"function","file","line","self (nanoseconds)","total (nanoseconds)","samples"\r\n"main","made.c",,10000000,480000000,48\r\n'), csv);
  assert.match(csv, /^# tables\.pb\n# .* \u2013 .* UTC\n"function"/);
  await closeCleanly(opened);
});

test("pprof of a comparison has both values", async () => {
  const opened = await open(browser, page("both", "--diff", profile("before"), profile("after", 3)));
  const path = await exported(opened, "pprof", "pb.gz");

  assert.deepEqual(readByGo(path, 1), EXPECTED);
  assert.equal(readByGo(path, 0)["main;work"], 900_000_000);
  await closeCleanly(opened);
});

test("focus applies to exports", async () => {
  const opened = await open(browser, `${page("focus", profile("focus"))}#focus=work`);
  const path = await exported(opened, "pprof", "pb.gz");

  assert.deepEqual(readByGo(path), { "main;work": 300_000_000, "main;work;</script>": 120_000_000 });
  await closeCleanly(opened);
});

test("SVG and PNG show the frames", async () => {
  const opened = await open(browser, page("draw", profile("draw")));
  const svg = readFileSync(await exported(opened, "SVG", "svg"), "utf8");

  assert.equal(await opened.page.evaluate((text: string) => {
    const drawn = new DOMParser().parseFromString(text, "image/svg+xml");
    return `${drawn.documentElement.tagName} ${drawn.querySelectorAll("parsererror, script").length} ${[...drawn.querySelectorAll("text")].some((each) => each.textContent.startsWith("work"))}`;
  }, svg), "svg 0 true");
  const png = readFileSync(await exported(opened, "PNG", "png"));
  assert.equal(png.subarray(1, 4).toString(), "PNG");
  assert.ok(png.readUInt32BE(16) > 1000, "as wide as the graph");
  await closeCleanly(opened);
});

test("an exported page can be exported again", async () => {
  let address = page("again", profile("again"));

  for (let round = 0; round < 2; round++) {
    const opened = await open(browser, address);
    const path = await exported(opened, "HTML", "html");
    await closeCleanly(opened);
    address = pathToFileURL(files.write(`again-${round}.html`, readFileSync(path))).href;
  }
  const opened = await open(browser, address);
  assert.equal(await opened.page.$$eval("script", (all) => all.length), 2);
  assert.deepEqual(readByGo(await exported(opened, "pprof", "pb.gz")), EXPECTED);
  await closeCleanly(opened);
});

test("an exported page keeps the display options and omits hidden names", async () => {
  const opened = await open(browser, `${page("looked", profile("looked"))}#hide=%3C%2Fscript%3E&search=work&layout=flame`);
  const path = await exported(opened, "HTML", "html");
  await closeCleanly(opened);
  const html = readFileSync(path, "utf8");

  assert.ok(html.includes('"name":["main","work"') && !html.includes("u003c/script"));
  const other = await open(browser, pathToFileURL(files.write("looked-again.html", html)).href);
  assert.equal(await other.page.$eval("input.flame-search", (field) => field.value), "work");
  await closeCleanly(other);
});

test("exports have title, query, range and a link back, and pprof its time, labels and spans", async () => {
  const untilMs = Math.floor(Date.now() / 1000) * 1000 - 600_000;
  await pushSpan(server, { id: spanId(0xab), name: "GET", service: "cafe", stacks: "main;work 30", untilMs });
  const opened = await open(browser, `${server.base}?query=cafe.cpu&from=now-30m&until=now`);

  await opened.page.waitForSelector(".export > button");
  const raw = rawByGo(await exported(opened, "pprof", "pb.gz"));
  assert.equal(Date.parse(/^Time: (\S+ \S+)/m.exec(raw)![1]!.replace(" ", "T") + "Z"), untilMs - 10_000);
  assert.match(raw, /^Duration: 10s/m);
  assert.match(raw, /profile_id:\[00000000000000ab\]/);
  assert.match(raw, /cafe \u2013 cpu.*cafe\.cpu \u00b7 process_cpu:cpu.* \u2013 .*UTC/s);
  assert.match(raw, /service_name:\[cafe\].*span_name:\[GET\]/s);
  const svg = readFileSync(await exported(opened, "SVG", "svg"), "utf8");
  const link = new URL(/<a href="([^"]*)"/.exec(svg)![1]!.replaceAll("&#38;", "&"));
  assert.ok(svg.includes("cafe \u2013 cpu</text>") && svg.includes("cafe.cpu \u00b7 process_cpu:cpu"));
  assert.equal(link.searchParams.get("query"), "cafe.cpu");
  const [fromMs, rangeMs] = [Number(link.searchParams.get("from")), Number(link.searchParams.get("until")) - Number(link.searchParams.get("from"))];
  assert.ok(rangeMs === 1_800_000 && Math.abs(fromMs + rangeMs - Date.now()) < 60_000, "absolute times");
  const html = await exported(opened, "HTML", "html");
  await closeCleanly(opened);
  const file = await open(browser, pathToFileURL(files.write("cafe.html", readFileSync(html))).href);
  assert.match(await file.page.$eval(".file-head", (head) => head.textContent), /cafe \u2013 cpu.*cafe\.cpu \u00b7 process_cpu:cpu.* \u2013 .*UTC/s);
  assert.ok(await file.page.$eval(".file-head a", (a, base) => a.href.startsWith(base), server.base));
  // With a focus, the page creates the pprof and sets its time to the range.
  await file.page.goto(`${file.page.url()}#focus=work`);
  const again = rawByGo(await exported(file, "pprof", "pb.gz"));
  assert.match(again, /^Time: /m);
  assert.match(again, /Comment: cafe\.cpu|cafe\.cpu \u00b7/);
  await closeCleanly(file);
});

test("a page exported from a server works without the server", async () => {
  await server.pushFolded("shop.cpu", "main;work 30\nmain;idle 5\n");
  const opened = await open(browser, `${server.base}?query=shop.cpu&from=now-1h&until=now`);

  await opened.page.waitForSelector(".export > button");
  const expected = { "main;work": 300_000_000, "main;idle": 50_000_000 };
  assert.deepEqual(readByGo(await exported(opened, "pprof", "pb.gz")), expected);
  const copy = await exported(opened, "HTML", "html");
  await closeCleanly(opened);
  await server.stop();
  const file = await open(browser, pathToFileURL(files.write("served.html", readFileSync(copy))).href);
  assert.deepEqual(readByGo(await exported(file, "pprof", "pb.gz")), expected);
  await closeCleanly(file);
});

