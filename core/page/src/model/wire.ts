/** What the server answers, and what `spanprof report --html` puts into the
 * file: core/docs/server-api.md describes each. */

/** `/api/v1/profile?format=tree`. Parents come before their children; nodes[0]
 * is the root, whose `function` is -1. */
export interface WireTree {
  type: string;
  /** As in pprof: nanoseconds, count, bytes. */
  unit: string;
  /** Profiles that had a part in it. */
  profiles: number;
  /** The number of small nodes that the server merged into "(other)"; missing:
   * none. */
  merged?: number;
  functions: { name: string[]; file: string[]; line: number[] };
  /** `samples`: how many own values rest on, where that is known. */
  nodes: { parent: number[]; function: number[]; self: number[]; samples?: number[] };
}

/** `/api/v1/diff?format=tree`: each node has a value on either side. */
export interface WireDiff {
  type: string;
  unit: string;
  profiles: [left: number, right: number];
  /** As in a tree. */
  merged?: number;
  functions: WireTree["functions"];
  nodes: {
    parent: number[]; function: number[]; left: number[]; right: number[];
    /** As samples of a tree, each where it is known. */
    leftSamples?: number[]; rightSamples?: number[];
  };
}

export interface WireApplication {
  name: string;
  types: string[];
}

export interface WireLabelValue {
  value: string | null;
  total: number;
  share: number;
  profiles: number;
  average: number;
  deviation: number;
}

export interface WireSpan {
  name: string | null;
  service: string | null;
  spanId?: string;
  traceId?: string | null;
  total: number;
  samples: number;
  spans: number;
  traced: number;
  durationNs?: number;
  longestNs?: number;
  p50Ns?: number;
  p99Ns?: number;
}

export interface WireTrace {
  traceId: string;
  rootSpanId: string;
  name: string;
  service: string;
  startNs: number;
  durationNs: number;
  status: number;
  total: number;
  samples: number;
}

export interface WireTraceSpan {
  spanId: string;
  parentId: string | null;
  name: string;
  service: string;
  kind: number;
  startNs: number;
  durationNs: number;
  status: number;
  statusMessage: string;
  attributes: Record<string, unknown>;
  own: number;
  total: number;
  samples: number;
}

export interface WireGaps {
  ranges: { from: number; until: number }[];
  before: number | null;
  after: number | null;
}

export interface WireAnnotation {
  id: string;
  timeMs: number;
  text: string;
  application: string | null;
}

/** RFC 9457; `column` (from 1, in bytes) where a query is at fault, `side` where
 * one of a comparison is. */
export interface WireProblem {
  status: number;
  detail: string;
  column?: number;
  side?: "left" | "right";
}

/** A span name or a span of a file. `nodes`: where its time was, with that of the
 * spans in it, for names that were not too many; nodes are the tree's. */
export interface WireFileSpan {
  /** null: in no span. */
  name: string | null;
  spanId?: string;
  self: number;
  total: number;
  samples: number;
  spans: number;
  nodes?: { node: number[]; self: number[] };
}

/** One side of a file. */
export interface WireFileSide {
  /** 0: not known. */
  fromMs: number;
  untilMs: number;
  samples: number;
  /** Of all samples, those too that a filter left out. */
  all: number;
  /** What the profiles say of their making. */
  comments: string[];
  tree: WireTree;
  spanNames: WireFileSpan[];
  /** The dearest ones. */
  spans: WireFileSpan[];
}

/** The data of a page that is a file. `base` makes it a comparison. */
export interface WireFile {
  title: string;
  /** How it is looked at first; the command says nothing of it. */
  look?: Record<string, string>;
  /** Only in a file exported by the page: queries and ranges, and the address that
   * showed them. */
  origin?: { says: string[]; link: string };
  now: WireFileSide;
  base: WireFileSide | null;
}
