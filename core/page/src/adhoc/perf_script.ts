/** Reads the output of `perf script`. Each sample has a header line, its frames from the
 * innermost outwards, and an empty line. Without a call graph, one frame follows the
 * event on the header line. */
import { ParseError, TreeMaker, type Parsed } from "./parsed.ts";

/** A header line: "ruby 4711/4712 [001] 1234.567890: 10101010 cpu-clock:uhppp: ". The
 * groups are the command, the time, the period, the event, and the text after the
 * event. Time and period are optional. */
const HEAD = /^\s*(\S.*?)\s+-?\d+(?:\/\d+)?\s+(?:\[\d+\]\s+)?(?:[._a-zA-Z][.\w]{3,5}\s+)?(?:(\d+\.\d+):\s+)?(?:(\d+)\s+)?([^\s\d]\S*):(?:\s+(.*))?$/;
/** A frame: "\t  7f12 rb_ary_sort+0x1f (/usr/lib/libruby.so.3.1)". The groups are the
 * address and the text after it. */
const FRAME = /^\s*(?=\S*\d)([0-9a-f]{2,})\s+(\S.*)$/;
/** Events whose period is a time. */
const CLOCK = /^(cpu|task)-clock(:|$)/;

function headOf(line: string): RegExpExecArray | null {
  const found = HEAD.exec(line);

  // An indented line that matches HEAD, but has no time, is a frame.
  return found && (!/^\s/.test(line) || found[2] !== undefined) ? found : null;
}

export function isPerfScript(text: string): boolean {
  const [first = "", second = ""] = text.slice(0, 1 << 16).split(/\r?\n/).filter((line) => line.trim() !== "" && !line.startsWith("#"));
  const head = headOf(first);

  return head !== null && (head[2] !== undefined || (/^\s/.test(second) && FRAME.test(second)) || FRAME.test(head[5] ?? ""));
}

function frame(maker: TreeMaker, text: string): number {
  const found = /^(.*?)(?:\+0x[0-9a-f]+)?(?: \(([^()]*(?:\([^()]*\))?[^()]*)\))?$/.exec(text.trimEnd());
  const [name, module] = [found?.[1] ?? text, found?.[2] ?? ""];
  const file = module === "[unknown]" || module === "inlined" ? "" : module.slice(module.lastIndexOf("/") + 1);

  return maker.functionId(name === "[unknown]" ? file.startsWith("[") ? file : `[${file === "" ? "unknown" : file}]` : name, file);
}

class Reader {
  readonly makers = new Map<string, TreeMaker>();
  /** Events of which a sample has no period. Such a sample counts as 1. */
  readonly counted = new Set<string>();
  hasStacks = false;
  /** Lines that are neither a sample nor a frame. */
  others = 0;
  private sample: { maker: TreeMaker; command: string; value: number; frames: number[] } | null = null;

  line(line: string): void {
    const head = headOf(line);
    const found = head || !this.sample ? null : FRAME.exec(line);

    if (line.trim() === "")
      this.finish();
    else if (head)
      this.begin(head);
    else if (found)
      this.sample!.frames.push(frame(this.sample!.maker, found[2]!));
    else
      this.others++;
  }

  finish(): void {
    if (this.sample) {
      const { maker, command, value, frames } = this.sample;
      this.hasStacks ||= frames.length > 1;
      maker.add([maker.functionId(command), ...frames.reverse()], value, 1);
    }
    this.sample = null;
  }

  private begin([, command = "", , period, event = "", rest = ""]: RegExpExecArray): void {
    this.finish();
    const maker = this.makers.get(event) ?? new TreeMaker();
    const inline = FRAME.exec(rest);
    this.makers.set(event, maker);
    if (period === undefined)
      this.counted.add(event);
    this.sample = { maker, command, value: Number(period ?? 1), frames: inline ? [frame(maker, inline[2]!)] : [] };
  }
}

export function perfScriptParsed(text: string): Parsed {
  const reader = new Reader();

  for (const line of text.split(/\r?\n/))
    if (!line.startsWith("#"))
      reader.line(line);
  reader.finish();
  if (reader.makers.size === 0)
    throw new ParseError("it has no samples");
  return {
    format: "perf script", timeMs: null,
    values: [...reader.makers].map(([name, maker]) => ({ name, tree: maker.tree(name, CLOCK.test(name) && !reader.counted.has(name) ? "nanoseconds" : "count") })),
    notes: [
      ...reader.hasStacks ? [] : ["No call graph: record with perf record -g to see callers."],
      ...reader.others > 0 ? [`Skipped ${reader.others} lines that are neither samples nor frames.`] : [],
    ],
  };
}
