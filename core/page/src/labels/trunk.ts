/** The frames below the root that several trees have in common, such as those of a web
 * server. The trees differ only below the last one. */
import { totalsOf, type Tree } from "../model/tree.ts";

/** A frame belongs to the trunk if it has at least this share of the tree's total. */
const SHARE_MIN = 0.9;
/** Deep recursion with one path must not take long. */
const DEPTH_MAX = 500;

/** The path from the root along the child with the largest total. */
export interface Trunk {
  readonly nodes: readonly number[];
  /** Name and file of each node's function. */
  readonly keys: readonly string[];
  readonly names: readonly string[];
  /** Each node's share of the tree's total. */
  readonly shares: readonly number[];
}

export function trunkOf({ parent, self, functionOf, functions }: Tree): Trunk {
  const totals = totalsOf(parent, self);
  const heaviest = new Uint32Array(parent.length);
  const nodes: number[] = [];

  for (let node = 1; node < parent.length; node++) {
    const best = heaviest[parent[node]!]!;
    if (best === 0 || totals[node]! > totals[best]!)
      heaviest[parent[node]!] = node;
  }
  for (let node = heaviest[0] ?? 0; node !== 0 && totals[node]! >= SHARE_MIN * totals[0]! && nodes.length < DEPTH_MAX; node = heaviest[node]!)
    nodes.push(node);
  const names = nodes.map((node) => functions.name[functionOf[node]!] ?? "");
  return {
    nodes, names, keys: nodes.map((node, at) => `${names[at]!}\n${functions.file[functionOf[node]!] ?? ""}`),
    shares: nodes.map((node) => totals[0]! > 0 ? totals[node]! / totals[0]! : 0),
  };
}

/** The frames that all trunks begin with; none without trunks. */
export function commonTrunk(trunks: readonly Trunk[]): Pick<Trunk, "keys" | "names"> {
  const [first, ...others] = trunks;
  const differs = first?.keys.findIndex((key, at) => others.some(({ keys }) => keys[at] !== key)) ?? 0;
  const length = differs < 0 ? first!.keys.length : differs;

  return { keys: first?.keys.slice(0, length) ?? [], names: first?.names.slice(0, length) ?? [] };
}

/** Whether a trunk begins with these frames. */
export function hasCommon({ keys }: Trunk, common: readonly string[]): boolean {
  return common.every((key, at) => keys[at] === key);
}
