/** Reads a dropped file. Recognises its format by its content. */
import { chromeTraceParsed, isChromeTrace } from "./chrome_trace.ts";
import { cpuProfileParsed, isCpuProfile } from "./cpuprofile.ts";
import { firefoxParsed, isFirefox } from "./firefox.ts";
import { flamebearerParsed, isFlamebearer } from "./flamebearer.ts";
import { foldedParsed, isFolded } from "./folded.ts";
import { heapProfileParsed, isHeapProfile } from "./heapprofile.ts";
import { ParseError, type Parsed } from "./parsed.ts";
import { isPerfScript, perfScriptParsed } from "./perf_script.ts";
import { pprofParsed } from "./pprof.ts";
import { isSpeedscope, speedscopeParsed } from "./speedscope.ts";
import { isStackprof, stackprofParsed } from "./stackprof.ts";

/** Size of the largest file that is read: its tree takes many times the memory of the
 * file. */
export const FILE_BYTES_MAX = 64 << 20;
const UNPACKED_BYTES_MAX = 256 << 20;
const MIB = 1 << 20;
/** Number of lines examined to recognise a text format. */
const LINES_MAX = 200;

/** The formats, for messages. */
export const KINDS = "pprof (optionally gzipped), folded stacks, perf script, speedscope, .cpuprofile, .heapprofile, Firefox profiles, Chrome traces, stackprof JSON, flamebearer JSON";

export interface ReadFile extends Parsed {
  readonly name: string;
  /** The content of the file, uncompressed. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

function begins(bytes: Uint8Array, ...with_: number[]): boolean {
  return with_.every((byte, index) => bytes[index] === byte);
}

async function unpacked(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")).getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;

  for (;;) {
    const { done, value } = await reader.read().catch(() => { throw new ParseError("its gzip data is corrupt or incomplete"); });
    if (done)
      break;
    size += value.length;
    if (size > UNPACKED_BYTES_MAX) {
      await reader.cancel();
      throw new ParseError(`it has more than ${UNPACKED_BYTES_MAX / MIB} MiB uncompressed; use spanprof report --html for large profiles`);
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

function textOf(bytes: Uint8Array): string | null {
  if (bytes.subarray(0, 4096).includes(0))
    return null;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Reports JSON with unexpected member types as a malformed file. */
function wellFormed(kind: string, read: () => Parsed): Parsed {
  try {
    return read();
  } catch (error) {
    throw error instanceof TypeError ? new ParseError(`it looks like ${kind}, but a part is missing or has the wrong type`) : error;
  }
}

/** Parses JSON. Returns undefined if the text is not JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ""));
  } catch {
    return undefined;
  }
}

function jsonParsed(data: unknown): Parsed {
  if (typeof data === "object" && data !== null) {
    if (isSpeedscope(data))
      return wellFormed("speedscope", () => speedscopeParsed(data));
    if (isCpuProfile(data))
      return wellFormed(".cpuprofile", () => cpuProfileParsed(data));
    if (isHeapProfile(data))
      return wellFormed(".heapprofile", () => heapProfileParsed(data));
    if (isFirefox(data))
      return wellFormed("a Firefox profile", () => firefoxParsed(data));
    if (isStackprof(data))
      return wellFormed("stackprof", () => stackprofParsed(data));
    if (isFlamebearer(data))
      return wellFormed("flamebearer", () => flamebearerParsed(data));
    if (isChromeTrace(data))
      return wellFormed("a Chrome trace", () => chromeTraceParsed(data));
  }
  throw new ParseError("it is JSON, but neither speedscope, .cpuprofile, .heapprofile, a Firefox profile, a Chrome trace, stackprof nor flamebearer");
}

/** Refuses known formats that this page does not read, and explains how to convert them. */
function refuseOthers(bytes: Uint8Array): void {
  const letters = new TextDecoder("latin1").decode(bytes.subarray(0, 8));

  if (/^(\xff\xfe|\xfe\xff)/.test(letters))
    throw new ParseError("it is UTF-16 text, as PowerShell's > writes; save it as UTF-8 with | Out-File -Encoding utf8");
  if (/^(heap|mutex|contention|goroutine|threadcreate) profile:|^--- (mutex|contention)/.test(new TextDecoder("latin1").decode(bytes.subarray(0, 40))))
    throw new ParseError("it is a legacy text profile; convert it with `go tool pprof -proto`");
  // A CPU profile of gperftools begins with the words 0 and 3.
  if (/^(\0{4}\x03\0{3}|\0{8})$/.test(letters) || /^heap_v2\//.test(letters))
    throw new ParseError("it is a profile of gperftools or jemalloc; convert it with `go tool pprof -proto PROGRAM FILE`");
  if (letters.startsWith("\x04\b"))
    throw new ParseError("it is Ruby's Marshal format, which stackprof writes; convert it with `stackprof --json FILE`");
  if (letters.startsWith("PERFILE"))
    throw new ParseError("it is a perf.data file; open the output of `perf script` instead");
  if (/^<!doctype/i.test(new TextDecoder("latin1").decode(bytes.subarray(0, 9))))
    throw new ParseError("it is a web page; open it in a browser");
  if (letters.startsWith("<svg"))
    throw new ParseError("it is a picture; export the graph as pprof instead");
  if (letters.startsWith("FLR\0"))
    throw new ParseError("it is a Java Flight Recorder file, which is not supported");
  if (letters.startsWith("\x7fELF"))
    throw new ParseError("it is a program, not a profile");
  if (letters.startsWith("PK\x03\x04"))
    throw new ParseError("it is a ZIP archive; extract the profile first");
}

/** Returns whether a text has the lines of Callgrind's format: the header ends with the
 * names of the events, and functions follow. Such a file is refused, because it contains
 * only costs of functions and of calls, and no stacks. */
function isCallgrind(text: string): boolean {
  const lines = text.slice(0, 1 << 16).split("\n", LINES_MAX);
  const events = lines.findIndex((line) => line.startsWith("events:"));

  return events >= 0 && lines.slice(events).some((line) => line.startsWith("fn="));
}

/** Recognises text formats. Text that starts like JSON may still be folded stacks. */
function textParsed(text: string, name: string): Parsed | null {
  const isLikeJson = /^\ufeff?\s*[[{]/.test(text);
  const data = isLikeJson ? jsonOf(text) : undefined;

  if (data !== undefined)
    return jsonParsed(data);
  if (isCallgrind(text))
    throw new ParseError("it is a profile of Callgrind, which has no stacks; open it in KCachegrind");
  if (isPerfScript(text))
    return perfScriptParsed(text);
  if (isFolded(text, name))
    return foldedParsed(text);
  if (isLikeJson)
    throw new ParseError("it starts like JSON, but is corrupt or incomplete");
  return null;
}

function parsed(bytes: Uint8Array, name: string): Parsed {
  refuseOthers(bytes);
  const text = textOf(bytes);
  const found = text === null ? null : textParsed(text, name);

  if (found)
    return found;
  try {
    return pprofParsed(bytes);
  } catch (error) {
    if (error instanceof ParseError && text !== null)
      throw new ParseError(`it is text of another kind; supported formats: ${KINDS}`);
    throw error instanceof ParseError ? new ParseError(`${error.message}; supported formats: ${KINDS}`) : error;
  }
}

/** Reads a file. Throws ParseError with a message that starts with the file's name. */
export async function readFile(file: File): Promise<ReadFile> {
  try {
    if (file.size > FILE_BYTES_MAX)
      throw new ParseError(`it has ${Math.round(file.size / MIB)} MiB, more than the limit of ${FILE_BYTES_MAX / MIB} MiB; use spanprof report --html for large profiles`);
    if (file.size === 0)
      throw new ParseError("it is empty");
    let bytes = new Uint8Array(await file.arrayBuffer());
    if (begins(bytes, 0x1f, 0x8b))
      bytes = await unpacked(bytes);
    const found = parsed(bytes, file.name);
    if (found.values.every(({ tree }) => tree.nodes.self.every((value) => value === 0)))
      throw new ParseError(`it is ${found.format}, but has no samples`);
    return { ...found, name: file.name, bytes };
  } catch (error) {
    if (error instanceof ParseError)
      throw new ParseError(`${file.name}: ${error.message}.`);
    if (error instanceof RangeError || error instanceof DOMException)
      throw new ParseError(`${file.name}: the browser cannot read it or is out of memory; use spanprof report --html instead.`);
    throw error;
  }
}
