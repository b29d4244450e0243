/** Writes pprof profiles like those of spanprof, with span labels on samples:
 * https://github.com/google/pprof/blob/main/proto/profile.proto */

export interface Sample {
  /** Function names from the root, separated by ";". */
  stack: string;
  valueNs: number;
  /** The line of each function. If `lines` is missing, the frames have no line numbers. */
  lines?: readonly number[];
  labels?: Readonly<Record<string, string>>;
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = BigInt(value);

  do {
    bytes.push(Number(rest & 127n) | (rest > 127n ? 128 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return bytes;
}

function field(number: number, value: number | Uint8Array | number[]): number[] {
  return typeof value === "number"
    ? [...varint(number << 3), ...varint(value)]
    : [...varint((number << 3) | 2), ...varint(value.length), ...value];
}

/** Numbers distinct keys in the order of their first use. */
class Table<Key> {
  readonly all: Key[] = [];
  private readonly places = new Map<Key, number>();

  of(key: Key): number {
    const place = this.places.get(key) ?? this.all.push(key) - 1;

    this.places.set(key, place);
    return place;
  }
}

/** `file` is the file of all functions. */
export function pprof(samples: readonly Sample[], fromMs: number, durationMs: number, periodNs: number, file = ""): Uint8Array<ArrayBuffer> {
  const texts = new Table<string>(), functions = new Table<string>(), places = new Table<string>();
  const out: number[][] = [];
  const valueType = (): number[] => [...field(1, texts.of("cpu")), ...field(2, texts.of("nanoseconds"))];

  texts.of("");
  out.push(field(1, valueType()));
  for (const { stack, valueNs, labels, lines } of samples) {
    const locations = stack.split(";").map((name, at) => varint(places.of(`${functions.of(name)} ${lines?.[at] ?? 0}`) + 1)).reverse().flat();
    out.push(field(2, [
      ...field(1, locations), ...field(2, varint(valueNs)),
      ...Object.entries(labels ?? {}).flatMap(([key, value]) => field(3, [...field(1, texts.of(key)), ...field(2, texts.of(value))])),
    ]));
  }
  places.all.forEach((place, at) => {
    const [functionAt, line] = place.split(" ").map(Number) as [number, number];
    out.push(field(4, [...field(1, at + 1), ...field(4, [...field(1, functionAt + 1), ...field(2, line)])]));
  });
  functions.all.forEach((name, at) => {
    out.push(field(5, [...field(1, at + 1), ...field(2, texts.of(name)), ...field(4, texts.of(file))]));
  });
  out.push(field(9, fromMs * 1e6), field(10, durationMs * 1e6), field(11, valueType()), field(12, periodNs));
  for (const text of texts.all)
    out.push([...varint((6 << 3) | 2), ...varint(Buffer.byteLength(text)), ...Buffer.from(text)]);
  return Uint8Array.from(out.flat());
}
