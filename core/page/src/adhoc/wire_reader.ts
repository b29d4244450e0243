/** Reads protobuf's wire format, one field of a message after the other. */
import { ParseError } from "./parsed.ts";

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

export class WireReader {
  /** The number of the current field. Its content is the integer `value`, or the bytes
   * from `begin` to `end`. */
  field = 0;
  value = 0;
  begin = 0;
  end = 0;
  isBytes = false;
  private at: number;

  constructor(readonly data: Uint8Array, from = 0, private readonly until = data.length) {
    this.at = from;
  }

  /** Goes to the next field. Returns false at the end. */
  next(): boolean {
    if (this.at >= this.until)
      return false;
    const key = this.varint();
    const kind = key % 8;

    this.field = Math.floor(key / 8);
    this.isBytes = kind === BYTES;
    if (this.field === 0)
      throw broken();
    if (kind === VARINT) {
      this.value = this.varint();
      return true;
    }
    const size = kind === FIXED64 ? 8 : kind === FIXED32 ? 4 : kind === BYTES ? this.varint() : -1;
    this.begin = this.at;
    this.end = this.at + size;
    if (size < 0 || this.end > this.until)
      throw broken();
    this.at = this.end;
    return true;
  }

  /** A reader of the message in the current field. */
  message(): WireReader {
    return new WireReader(this.data, this.begin, this.end);
  }

  /** Calls `visit` for each number of the current field, which may be a packed repeated
   * field. */
  numbers(visit: (value: number) => void): void {
    if (!this.isBytes) {
      visit(this.value);
      return;
    }
    const packed = this.message();
    while (packed.at < packed.until)
      visit(packed.varint());
  }

  bytes(): Uint8Array {
    return this.data.subarray(this.begin, this.end);
  }

  /** Reads a varint as a signed int64. Values beyond 2^53 are rounded. */
  private varint(): number {
    let number = 0;
    let scale = 1;

    for (let count = 0; count < 10; count++) {
      if (this.at >= this.until)
        throw broken();
      const byte = this.data[this.at++]!;
      if (count === 9 || number >= 2 ** 52)
        return this.large(count, byte);
      number += (byte & 0x7f) * scale;
      if (byte < 0x80)
        return number;
      scale *= 128;
    }
    throw broken();
  }

  /** Reads a large varint again from its first byte, in 64 bits. */
  private large(count: number, last: number): number {
    let number = 0n;
    let byte = last;
    const begin = this.at - 1 - count;

    while (byte >= 0x80) {
      if (this.at >= this.until || this.at - begin >= 10)
        throw broken();
      byte = this.data[this.at++]!;
    }
    for (let index = this.at - 1; index >= begin; index--)
      number = (number << 7n) | BigInt(this.data[index]! & 0x7f);
    return Number(BigInt.asIntN(64, number));
  }
}

function broken(): ParseError {
  return new ParseError("it is not a complete pprof profile");
}
