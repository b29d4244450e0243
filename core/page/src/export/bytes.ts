/** A growing byte buffer that writes protobuf. */
export class Bytes {
  private data = new Uint8Array(64);
  private used = 0;

  get size(): number {
    return this.used;
  }

  clear(): this {
    this.used = 0;
    return this;
  }

  append(bytes: Uint8Array): this {
    this.reserve(bytes.length);
    this.data.set(bytes, this.used);
    this.used += bytes.length;
    return this;
  }

  /** Appends an integer as a varint. A negative one takes ten bytes, like protobuf's
   * int64. */
  varint(number: number): this {
    if (number < 0 || number > Number.MAX_SAFE_INTEGER)
      return this.bigVarint(BigInt(Math.round(number)));
    this.reserve(10);
    let remaining = number;
    for (; remaining > 0x7f; remaining = Math.floor(remaining / 128))
      this.data[this.used++] = (remaining % 128) | 0x80;
    this.data[this.used++] = remaining;
    return this;
  }

  bigVarint(number: bigint): this {
    this.reserve(10);
    let remaining = BigInt.asUintN(64, number);
    for (; remaining > 0x7fn; remaining >>= 7n)
      this.data[this.used++] = Number(remaining & 0x7fn) | 0x80;
    this.data[this.used++] = Number(remaining);
    return this;
  }

  /** Appends a protobuf field with an integer. */
  number(field: number, value: number): this {
    return this.varint(field << 3).varint(value);
  }

  /** Appends a protobuf field with bytes, a string or a message. */
  part(field: number, content: Uint8Array): this {
    return this.varint((field << 3) | 2).varint(content.length).append(content);
  }

  /** The written bytes, valid until the next write. */
  view(): Uint8Array {
    return this.data.subarray(0, this.used);
  }

  copy(): Uint8Array<ArrayBuffer> {
    return this.data.slice(0, this.used);
  }

  private reserve(more: number): void {
    if (this.used + more <= this.data.length)
      return;
    const larger = new Uint8Array(Math.max(this.data.length * 2, this.used + more));
    larger.set(this.data);
    this.data = larger;
  }
}
