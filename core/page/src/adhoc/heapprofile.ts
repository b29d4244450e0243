/** Reads sampling heap profiles of V8 (.heapprofile), from Chrome's developer tools and
 * node --heap-prof. */
import { finiteNumber, TreeMaker, type Parsed } from "./parsed.ts";
import { functionIdOf, type CallFrame } from "./cpuprofile.ts";

interface Node { id?: unknown; callFrame?: CallFrame; selfSize?: unknown; children?: Node[] }
export interface HeapProfile { head: Node; samples?: { nodeId?: unknown }[] }

export function isHeapProfile(data: object): data is HeapProfile {
  const { head } = data as Partial<HeapProfile>;

  return typeof head === "object" && head as unknown !== null && typeof head.callFrame === "object" && "selfSize" in head;
}

export function heapProfileParsed(data: HeapProfile): Parsed {
  const maker = new TreeMaker();
  const counts = new Map<unknown, number>();
  // The head is "(root)", which is no function.
  const waiting: [node: Node, stack: readonly number[]][] = [[data.head, []]];

  for (const { nodeId } of data.samples ?? [])
    counts.set(nodeId, (counts.get(nodeId) ?? 0) + 1);
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [node, stack] = next;
    const size = finiteNumber(node.selfSize ?? 0, ".heapprofile");
    if (size > 0)
      maker.add(stack, size, counts.get(node.id) ?? 0);
    for (const child of node.children ?? [])
      waiting.push([child, [...stack, functionIdOf(maker, child.callFrame)]]);
  }
  return { format: "V8 heap profile", timeMs: null, values: [{ name: "inuse_space", tree: maker.tree("inuse_space", "bytes") }], notes: [] };
}
