/** What `perf script` prints: a line for each sample, its frames below it, the
 * innermost first, and an empty line. */
import { NotUnderstood, TreeMaker, type Parsed } from "./parsed.ts";

/** "ruby 4711/4712 [001] 1234.567890: 10101010 cpu-clock:uhppp: " */
const HEAD = /^(\S.*?)\s+(\d+)(?:\/\d+)?\s+(?:\[\d+\]\s+)?(?:\S+\s+)?[\d.]+:\s/;
/** "\t  7f12 rb_ary_sort+0x1f (/usr/lib/libruby.so.3.1)" */
const FRAME = /^\s+([0-9a-f]+)\s+(.*)$/;

export function isPerfScript(text: string): boolean {
  const lines = text.slice(0, 1 << 16).split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"));

  return lines.length > 1 && HEAD.test(lines[0]!) && FRAME.test(lines[1]!);
}

function frame(maker: TreeMaker, rest: string): number {
  const found = /^(.*?)(?:\+0x[0-9a-f]+)?(?: \(([^()]*(?:\([^()]*\))?[^()]*)\))?$/.exec(rest.trimEnd());
  const [name, module] = [found?.[1] ?? rest, found?.[2] ?? ""];
  const file = module === "[unknown]" || module === "inlined" ? "" : module.slice(module.lastIndexOf("/") + 1);

  return maker.functionId(name === "[unknown]" ? `[${file === "" ? "unknown" : file}]` : name, file);
}

export function perfScriptParsed(text: string): Parsed {
  const maker = new TreeMaker();
  let stack: number[] = [];
  let command = "";
  let other = 0;

  const finish = (): void => {
    if (command !== "")
      maker.add([maker.functionId(command), ...stack.reverse()], 1, 1);
    command = "";
    stack = [];
  };

  for (const line of text.split("\n")) {
    if (line.startsWith("#"))
      continue;
    if (line.trim() === "") {
      finish();
      continue;
    }
    const found = command === "" ? null : FRAME.exec(line);
    if (found) {
      stack.push(frame(maker, found[2]!));
      continue;
    }
    const head = HEAD.exec(line);
    if (head) {
      finish();
      command = head[1]!;
    } else {
      other++;
    }
  }
  finish();
  const tree = maker.tree("samples", "count");
  if (tree.nodes.parent.length === 1)
    throw new NotUnderstood("no stack is in it: record with perf record -g");
  return {
    format: "perf script", timeMs: null, values: [{ name: "samples", tree }],
    notes: other > 0 ? [`${other} lines are neither a sample nor a frame, and were passed over.`] : [],
  };
}
