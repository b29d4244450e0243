/** Reads traces of Chrome's Performance panel, in the Trace Event Format. The CPU profile
 * of each thread is in parts: an event `Profile` and then events `ProfileChunk`. Old
 * versions write one event `CpuProfile`. */
import { addCpuProfile, idleNotes, type CpuProfile, type Node } from "./cpuprofile.ts";
import { hasValues, ParseError, TreeMaker, type Parsed, type ParsedValue } from "./parsed.ts";

interface Data { startTime?: unknown; endTime?: unknown; timeDeltas?: unknown; cpuProfile?: Partial<CpuProfile> }
interface Event { name?: unknown; ph?: unknown; pid?: unknown; tid?: unknown; id?: unknown; ts?: unknown; args?: { name?: unknown; data?: Data } }
interface Whole extends CpuProfile { pid: number; tid: number; nodes: Node[]; samples: number[]; timeDeltas: number[]; startTime: number; endTime: number }

const PROFILES_MAX = 1000;
const PROFILES: ReadonlySet<unknown> = new Set(["Profile", "ProfileChunk", "CpuProfile"]);

export function isChromeTrace(data: object): boolean {
  return Array.isArray(data) ? typeof (data[0] as Event | undefined)?.ph === "string" : "traceEvents" in data && Array.isArray(data.traceEvents);
}

function numberOf(value: unknown, otherwise = 0): number {
  return typeof value === "number" ? value : otherwise;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value as unknown[] : [];
}

/** Adds the nodes and samples of an event to its profile. */
function addPart(whole: Whole, { name, tid, args }: Event): void {
  const { data } = args ?? {};
  const part = data?.cpuProfile;

  // Other events contain the id of the thread that takes the samples.
  if (name === "Profile")
    whole.tid = numberOf(tid);
  whole.startTime = numberOf(part?.startTime, numberOf(data?.startTime, whole.startTime));
  whole.endTime = numberOf(part?.endTime, numberOf(data?.endTime, whole.endTime));
  for (const node of listOf(part?.nodes) as readonly Node[])
    whole.nodes.push(node);
  for (const sample of listOf(part?.samples) as readonly number[])
    whole.samples.push(sample);
  for (const delta of listOf(data?.timeDeltas ?? part?.timeDeltas) as readonly number[])
    whole.timeDeltas.push(delta);
}

/** Returns the CPU profiles of a trace, ordered by their first events. */
function profilesOf(events: readonly Event[]): Whole[] {
  const found = new Map<string, Whole>();
  const parts = events.filter(({ name }) => PROFILES.has(name)).sort((a, b) => numberOf(a.ts) - numberOf(b.ts));

  if (parts.length === 0)
    throw new ParseError("it is an event trace without CPU profiles; record it in Chrome's Performance panel");
  for (const part of parts) {
    const [pid, tid] = [numberOf(part.pid), numberOf(part.tid)];
    const key = JSON.stringify([pid, part.id]);
    const whole = found.get(key) ?? { pid, tid, nodes: [], samples: [], timeDeltas: [], startTime: 0, endTime: 0 };
    found.set(key, whole);
    if (found.size > PROFILES_MAX)
      throw new ParseError(`it has more than ${PROFILES_MAX} CPU profiles`);
    addPart(whole, part);
  }
  return [...found.values()].filter(({ samples }) => samples.length > 0);
}

/** Returns the names of processes and threads. The keys are "process_name 12" and
 * "thread_name 12 14". */
function namesOf(events: readonly Event[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();

  for (const { name: kind, pid, tid, args } of events) {
    const name = args?.name;
    if (typeof name === "string" && name !== "" && (kind === "process_name" || kind === "thread_name"))
      names.set(`${kind} ${numberOf(pid)}${kind === "thread_name" ? ` ${numberOf(tid)}` : ""}`, name);
  }
  return names;
}

export function chromeTraceParsed(data: object): Parsed {
  const events = listOf("traceEvents" in data ? data.traceEvents : data) as readonly Event[];
  const profiles = profilesOf(events);
  const names = namesOf(events);
  const all = new TreeMaker();
  let idle = 0;
  const valuesOf = (maker: TreeMaker): ParsedValue[] => [{ name: "cpu", tree: maker.tree("cpu", "nanoseconds") }];
  const threads = profiles.map((profile) => {
    const { pid, tid } = profile;
    const own = new TreeMaker();
    idle += addCpuProfile(own, profile);
    addCpuProfile(all, profile);
    return { name: `${names.get(`process_name ${pid}`) ?? "process"} ${pid}, ${names.get(`thread_name ${pid} ${tid}`) ?? "thread"} ${tid}`, values: valuesOf(own) };
  });

  return { format: "Chrome trace", timeMs: null, values: valuesOf(all), threads: threads.filter(hasValues), notes: idleNotes(idle) };
}
