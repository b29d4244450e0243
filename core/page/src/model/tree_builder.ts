/** Builds a tree of merged stacks: a parent has at most one child for each function. */

export interface Columns {
  parent: Uint32Array;
  functionOf: Int32Array;
  self: Float64Array;
  baseSelf: Float64Array | null;
  samples: Float64Array | null;
  baseSamples: Float64Array | null;
}

/** The optional columns of a tree. */
export interface Has {
  readonly base: boolean;
  readonly samples: boolean;
  readonly baseSamples: boolean;
}

type Growing = Uint32Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

function grown<T extends Growing>(column: T): T {
  const larger = new (column.constructor as new (size: number) => T)(column.length * 2);

  larger.set(column);
  return larger;
}

export class TreeBuilder {
  private count = 1;
  private parent: Uint32Array<ArrayBuffer>;
  private functionOf: Int32Array<ArrayBuffer>;
  private self: Float64Array<ArrayBuffer>;
  private baseSelf: Float64Array<ArrayBuffer> | null;
  private samples: Float64Array<ArrayBuffer> | null;
  private baseSamples: Float64Array<ArrayBuffer> | null;
  /** A hash table with open addressing, which finds a node by its parent and function.
   * 0 is a free slot. */
  private slots: Uint32Array<ArrayBuffer>;

  /** The initial capacity is `expected` nodes. */
  constructor(has: Has, expected = 1000) {
    const size = Math.max(16, expected + 1);

    this.parent = new Uint32Array(size);
    this.functionOf = new Int32Array(size);
    this.functionOf[0] = -1;
    this.self = new Float64Array(size);
    this.baseSelf = has.base ? new Float64Array(size) : null;
    this.samples = has.samples ? new Float64Array(size) : null;
    this.baseSamples = has.baseSamples ? new Float64Array(size) : null;
    this.slots = new Uint32Array(2 ** Math.ceil(Math.log2(size * 2)));
  }

  /** The parent's child for this function, which is added if it is missing. */
  child(parent: number, functionId: number): number {
    const mask = this.slots.length - 1;

    for (let slot = spread(parent, functionId) & mask; ; slot = (slot + 1) & mask) {
      const node = this.slots[slot]!;
      if (node === 0)
        return this.append(parent, functionId, slot);
      if (this.parent[node] === parent && this.functionOf[node] === functionId)
        return node;
    }
  }

  add(node: number, self: number, base: number, samples: number, baseSamples: number): void {
    this.self[node]! += self;
    if (this.baseSelf)
      this.baseSelf[node]! += base;
    if (this.samples)
      this.samples[node]! += samples;
    if (this.baseSamples)
      this.baseSamples[node]! += baseSamples;
  }

  parentOf(node: number): number {
    return this.parent[node]!;
  }

  functionAt(node: number): number {
    return this.functionOf[node]!;
  }

  columns(): Columns {
    return {
      parent: this.parent.slice(0, this.count),
      functionOf: this.functionOf.slice(0, this.count),
      self: this.self.slice(0, this.count),
      baseSelf: this.baseSelf?.slice(0, this.count) ?? null,
      samples: this.samples?.slice(0, this.count) ?? null,
      baseSamples: this.baseSamples?.slice(0, this.count) ?? null,
    };
  }

  private append(parent: number, functionId: number, slot: number): number {
    if (this.count === this.parent.length)
      this.grow();
    const node = this.count++;
    this.parent[node] = parent;
    this.functionOf[node] = functionId;
    this.slots[slot] = node;
    if (this.count * 2 > this.slots.length)
      this.rehash();
    return node;
  }

  private grow(): void {
    this.parent = grown(this.parent);
    this.functionOf = grown(this.functionOf);
    this.self = grown(this.self);
    this.baseSelf = this.baseSelf && grown(this.baseSelf);
    this.samples = this.samples && grown(this.samples);
    this.baseSamples = this.baseSamples && grown(this.baseSamples);
  }

  private rehash(): void {
    const mask = this.slots.length * 2 - 1;

    this.slots = new Uint32Array(mask + 1);
    for (let node = 1; node < this.count; node++) {
      let slot = spread(this.parent[node]!, this.functionOf[node]!) & mask;
      while (this.slots[slot] !== 0)
        slot = (slot + 1) & mask;
      this.slots[slot] = node;
    }
  }
}

function spread(parent: number, functionId: number): number {
  let hash = Math.imul(parent, 0x9e3779b1) ^ Math.imul(functionId + 1, 0x85ebca6b);

  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
