/** Suffixes of application names in classic Pyroscope's clients, with the profile
 * types that the server derives from them (classic_query.c). */
const ENDINGS: Readonly<Record<string, string>> = {
  cpu: "process_cpu:cpu:nanoseconds:cpu:nanoseconds",
  itimer: "process_cpu:cpu:nanoseconds:cpu:nanoseconds",
  samples: "process_cpu:samples:count:cpu:nanoseconds",
  wall: "wall:wall:nanoseconds:wall:nanoseconds",
  alloc_objects: "memory:alloc_objects:count:space:bytes",
  alloc_space: "memory:alloc_space:bytes:space:bytes",
  inuse_objects: "memory:inuse_objects:count:space:bytes",
  inuse_space: "memory:inuse_space:bytes:space:bytes",
  goroutines: "goroutine:goroutine:count:goroutine:count",
  mutex_count: "mutex:contentions:count:contentions:count",
  mutex_duration: "mutex:delay:nanoseconds:contentions:count",
  block_count: "block:contentions:count:contentions:count",
  block_duration: "block:delay:nanoseconds:contentions:count",
};

export function classicType(ending: string): string | undefined {
  return Object.hasOwn(ENDINGS, ending) ? ENDINGS[ending] : undefined;
}

/** Splits "shop.cpu" into "shop" and the CPU type. Returns undefined if the name has no such suffix. */
export function classicName(name: string): { application: string; type: string } | undefined {
  const dot = name.lastIndexOf(".");
  const type = dot > 0 ? classicType(name.slice(dot + 1)) : undefined;

  return type === undefined ? undefined : { application: name.slice(0, dot), type };
}
