/** The profile type of what is looked at, as it is called. */

export const TYPE_DEFAULT = "process_cpu:cpu:nanoseconds:cpu:nanoseconds";

/** "process_cpu:cpu:nanoseconds:cpu:nanoseconds" is "cpu", "memory:alloc_space:…"
 * is "alloc_space (memory)". */
export function typeName(type: string): string {
  const [family = "", sample = type] = type.split(":");

  return family === "process_cpu" || family === sample ? sample : `${sample} (${family})`;
}

export function unitOf(type: string): string {
  return type.split(":")[2] ?? "";
}
