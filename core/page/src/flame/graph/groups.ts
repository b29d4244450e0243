/** The groups of functions that have the same colour: packages, kinds or names. */
import type { Functions } from "../../model/tree.ts";
import { kindOf, KIND_NAMES, KINDS, packageOf, type Kind } from "../stacks/package.ts";
import type { Colour } from "./colour.ts";

/** Number of hues of packages and names. Each hue has two shades. */
export const HUES = 24;

export type Grouping = Exclude<Colour, "change">;

const UNSEEN = -1;

function hashOf(text: string): number {
  let hash = 0x811c9dc5;

  for (let at = 0; at < text.length; at++)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash ^= hash >>> 15;
  return Math.imul(hash, 0x2c1b3c6d) >>> 8;
}

/** The index of the colour of a package or name in `packages`. */
export function packageFill(name: string): number {
  return name === "" ? 0 : 1 + hashOf(name) % (HUES * 2);
}

export function kindFill(kind: Kind): number {
  return KINDS.indexOf(kind);
}

/** Finds the group of a function when it is first needed. */
export class Groups {
  readonly names: string[] = [];
  /** The index of each group's colour in fillsOf(). */
  readonly fills: number[] = [];
  private readonly ids = new Map<string, number>();
  /** The packages of the files, which are slower to find than those of names. */
  private readonly ofFiles = new Map<string, number>();
  private readonly groupOf: Int32Array;

  constructor(private readonly functions: Functions, private readonly grouping: Grouping) {
    this.groupOf = new Int32Array(functions.name.length).fill(UNSEEN);
  }

  of(functionId: number): number {
    if (this.groupOf[functionId] === UNSEEN)
      this.groupOf[functionId] = this.find(this.functions.name[functionId]!, this.functions.file[functionId]!);
    return this.groupOf[functionId]!;
  }

  private find(name: string, file: string): number {
    switch (this.grouping) {
      case "kind": {
        const kind = kindOf(name, file);
        return this.group(KIND_NAMES[kind], kindFill(kind));
      }
      case "name": return this.group(name, packageFill(name));
      case "package": {
        const known = file === "" ? undefined : this.ofFiles.get(file);
        if (known !== undefined)
          return known;
        const found = packageOf(name, file);
        const group = this.group(found, packageFill(found));
        this.ofFiles.set(file, group);
        return group;
      }
    }
  }

  private group(name: string, fill: number): number {
    let id = this.ids.get(name);

    if (id === undefined) {
      id = this.names.push(name || "unknown") - 1;
      this.fills.push(fill);
      this.ids.set(name, id);
    }
    return id;
  }
}

const known = new WeakMap<Functions, Map<Grouping, Groups>>();

export function groupsOf(functions: Functions, grouping: Grouping): Groups {
  const groups = known.get(functions) ?? new Map<Grouping, Groups>();
  const found = groups.get(grouping) ?? new Groups(functions, grouping);

  known.set(functions, groups.set(grouping, found));
  return found;
}
