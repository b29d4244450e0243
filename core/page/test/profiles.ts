/** Writes profiles with known content, and reads exported ones with other tools. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Bytes } from "../src/export/bytes.ts";

export interface MadeSample {
  /** Outermost frame first. */
  stack: readonly string[];
  count: number;
  span?: string;
  spanId?: string;
}

const PERIOD_NS = 10_000_000;

/** A CPU profile with a period of 10 ms. */
export function madeProfile(samples: readonly MadeSample[], comments: readonly string[] = [], timeMs = Date.now(), [name, unit]: readonly [string, string] = ["cpu", "nanoseconds"]): Uint8Array<ArrayBuffer> {
  const texts = [""];
  const functions: string[] = [];
  const out = new Bytes();
  const text = (value: string): number => texts.includes(value) ? texts.indexOf(value) : texts.push(value) - 1;
  const location = (name: string): number => functions.includes(name) ? functions.indexOf(name) + 1 : functions.push(name);
  const type = new Bytes().number(1, text(name)).number(2, text(unit)).copy();

  out.part(1, type).part(11, type).number(12, PERIOD_NS).varint(9 << 3).bigVarint(BigInt(timeMs) * 1_000_000n).number(10, 10_000_000_000);
  for (const { stack, count, span, spanId } of samples) {
    const sample = new Bytes();
    for (const name of [...stack].reverse())
      sample.number(1, location(name));
    sample.number(2, count * PERIOD_NS);
    for (const [key, value] of [["span_name", span], ["profile_id", spanId]] as const)
      if (value !== undefined)
        sample.part(3, new Bytes().number(1, text(key)).number(2, text(value)).view());
    out.part(2, sample.view());
  }
  for (const comment of comments)
    out.number(13, text(comment));
  functions.forEach((name, index) => {
    out.part(4, new Bytes().number(1, index + 1).part(4, new Bytes().number(1, index + 1).number(2, 7).view()).view());
    out.part(5, new Bytes().number(1, index + 1).number(2, text(name)).number(4, text("made.c")).view());
  });
  for (const each of texts)
    out.part(6, new TextEncoder().encode(each));
  return out.copy();
}

export class Directory {
  readonly path = mkdtempSync(join(tmpdir(), "spanprof-page-"));

  write(name: string, content: Uint8Array | string): string {
    writeFileSync(join(this.path, name), content);
    return join(this.path, name);
  }

  dispose(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

export function spanprof(...words: string[]): string {
  const program = process.env["SPANPROF_COMMAND"];

  if (!program)
    throw new Error("SPANPROF_COMMAND is not set");
  return execFileSync(program, words, { encoding: "utf8", maxBuffer: 1 << 28 });
}

/** The output of go tool pprof -raw, with times in UTC. */
export function rawByGo(path: string): string {
  return execFileSync("go", ["tool", "pprof", "-raw", "-symbolize=none", path],
    { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"], env: { ...process.env, TZ: "UTC" } });
}

/** The stacks of a pprof file and their values. */
export function readByGo(path: string, value = 0): Record<string, number> {
  const raw = rawByGo(path);
  const names = new Map([...raw.matchAll(/^ +(\d+): 0x[0-9a-f]+ (?:M=\d+ )?(\S.*?) [^ ]*:\d+(?::\d+)? s=\d+/gm)].map((found) => [found[1]!, found[2]!]));
  const stacks: Record<string, number> = {};

  for (const found of raw.matchAll(/^ +(-?\d+(?: +-?\d+)*): ((?:\d+ )+)$/gm)) {
    const stack = found[2]!.trim().split(" ").map((id) => names.get(id) ?? `?${id}`).reverse().join(";");
    stacks[stack] = (stacks[stack] ?? 0) + Number(found[1]!.split(/ +/)[value]);
  }
  return stacks;
}
