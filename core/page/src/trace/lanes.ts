/** The CPU time of a trace by thread and profile. A profile has no times of its samples,
 * so only the sum of each profile is known. */
import type { WireTraceWindow } from "../model/wire.ts";
import type { Forest } from "./forest.ts";

/** The values of one profile in a lane. */
export interface Box {
  /** Nanoseconds since the start of the trace. Negative if the profile began before it. */
  fromNs: number;
  untilNs: number;
  value: number;
  samples: number;
  /** Index of the branch with the largest value. */
  largest: number;
  largestValue: number;
}

export interface Lane {
  service: string | null;
  /** Name and number of the thread; null if the profiles do not have them. */
  thread: string | null;
  /** The profiles, ordered by time. */
  boxes: Box[];
  value: number;
}

function threadOf({ threadName, threadId }: WireTraceWindow): string | null {
  if (threadName === null)
    return threadId === null ? null : `thread ${threadId}`;
  return threadId === null ? threadName : `${threadName} (${threadId})`;
}

function addTo(boxes: Box[], window: WireTraceWindow, fromNs: number, branch: number): void {
  const { value, samples } = window;
  const untilNs = fromNs + window.durationNs;
  // The windows are ordered by time, so those of one profile follow each other.
  let box = boxes.at(-1);

  if (box?.fromNs !== fromNs || box.untilNs !== untilNs) {
    box = { fromNs, untilNs, value: 0, samples: 0, largest: branch, largestValue: 0 };
    boxes.push(box);
  }
  box.value += value;
  box.samples += samples;
  if (value > box.largestValue) {
    box.largest = branch;
    box.largestValue = value;
  }
}

/** Lanes in the order of their first profile. */
export function lanesOf(windows: readonly WireTraceWindow[], forest: Forest): Lane[] {
  const first = forest.branches.reduce((least, { span }) => Math.min(least, span.startNs), Infinity);
  const branches = new Map(forest.branches.map(({ span }, index) => [span.spanId, index]));
  const lanes = new Map<string, Lane>();

  for (const window of windows) {
    const branch = branches.get(window.spanId);
    const thread = threadOf(window);
    const key = JSON.stringify([window.service, thread]);
    const lane = lanes.get(key) ?? { service: window.service, thread, boxes: [], value: 0 };

    if (branch === undefined || window.value === 0)
      continue;
    lanes.set(key, lane);
    lane.value += window.value;
    addTo(lane.boxes, window, window.startNs - first, branch);
  }
  return [...lanes.values()];
}

/** Whether the lanes show more than the sums in the waterfall: several threads, or
 * several profiles of a trace that is longer than one. */
export function areUseful(lanes: readonly Lane[], lengthNs: number): boolean {
  const threads = lanes.filter(({ thread }) => thread !== null).length;

  return threads > 1 || lanes.some(({ boxes }) => boxes.length > 1 && boxes.some(({ fromNs, untilNs }) => untilNs - fromNs < lengthNs));
}
