/** Types of the server's responses and of the data that `spanprof report --html`
 * puts into its file. core/docs/server-api.md describes them. */

/** `/api/v1/profile?format=tree`. Parents come before their children; nodes[0]
 * is the root, whose `function` is -1. */
export interface WireTree {
  type: string;
  /** A unit of pprof: nanoseconds, count, bytes. */
  unit: string;
  /** Number of merged profiles. */
  profiles: number;
  /** Number of small nodes that the server merged into "(other)"; missing if
   * none. */
  merged?: number;
  functions: { name: string[]; file: string[]; line: number[] };
  /** `samples` is the number of samples in each self value; missing if not known. */
  nodes: { parent: number[]; function: number[]; self: number[]; samples?: number[] };
}

/** `/api/v1/diff?format=tree`. Each node has a self value for each side. */
export interface WireDiff {
  type: string;
  unit: string;
  profiles: [left: number, right: number];
  /** Number of small nodes that the server merged into "(other)"; missing if none. */
  merged?: number;
  functions: WireTree["functions"];
  nodes: {
    parent: number[]; function: number[]; left: number[]; right: number[];
    /** Numbers of samples in the self values of each side; missing if not known. */
    leftSamples?: number[]; rightSamples?: number[];
  };
}

/** `/api/v1/lines`: the values of one function by line. */
export interface WireLines {
  type: string;
  unit: string;
  /** The value of all selected stacks. */
  all: number;
  /** The values of the function. */
  self: number;
  total: number;
  /** The first line of the function; 0 if not known. */
  startLine: number;
  /** Number of frames whose lines are missing, because the profiles have too many frames;
   * undefined if no frame is missing. */
  merged?: number;
  /** Ordered by line, which is 0 if not known. */
  lines: { line: number[]; self: number[]; total: number[] };
  /** The text of the lines and of the lines around them. null: the server has no readable
   * file. undefined: the server was started without --source. */
  source?: {
    /** The path below the server's directory. */
    file: string;
    modifiedMs: number;
    /** Whether the file is newer than the beginning of the range. */
    isNewer: boolean;
    /** The number of the first line in `lines`. */
    firstLine: number;
    lines: string[];
  } | null;
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
  /** Number of spans of the trace with an error. */
  errors: number;
  /** Whether the earliest stored span takes the place of a root that is not stored. */
  rootMissing: boolean;
}

/** A service and name of root spans. */
export interface WireRoot {
  service: string;
  name: string;
  traces: number;
}

/** A span of `/api/v1/find`. If `stored` is false, the server knows it only from
 * samples, and the times are those of their profiles. */
export interface WireFound {
  spanId: string | null;
  traceId: string | null;
  name: string | null;
  service: string | null;
  startNs: number;
  durationNs: number;
  stored: boolean;
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

/** The own value of a span in one profile, from `/api/v1/trace/ID?windows=1`. */
export interface WireTraceWindow {
  spanId: string;
  service: string | null;
  threadName: string | null;
  threadId: string | null;
  startNs: number;
  durationNs: number;
  value: number;
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

/** An error response (RFC 9457). `column` is the position of a query's error, in
 * bytes from 1. `side` is the side of a comparison that has the error. */
export interface WireProblem {
  status: number;
  detail: string;
  column?: number;
  side?: "left" | "right";
}

/** A span name or a span of a file. `nodes` has its values by node of the side's tree,
 * including those of its child spans. `nodes` is missing for names beyond a limit. */
export interface WireFileSpan {
  /** null stands for the samples outside of spans. */
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
  /** 0 if not known. */
  fromMs: number;
  untilMs: number;
  samples: number;
  /** Value of all samples, including those that a filter excluded. */
  all: number;
  /** The comments of the profiles. */
  comments: string[];
  tree: WireTree;
  spanNames: WireFileSpan[];
  /** The spans with the largest values. */
  spans: WireFileSpan[];
}

/** The data of an exported page. It is a comparison if `base` is not null. */
export interface WireFile {
  title: string;
  /** The initial display options; missing in files of `spanprof report`. */
  display?: Record<string, string>;
  /** The queries and ranges, and the page's address; only in files that the page
   * exported. */
  origin?: { says: string[]; link: string };
  now: WireFileSide;
  base: WireFileSide | null;
}
