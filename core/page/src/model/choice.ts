/** The profile type of what is looked at, and how it is called. */
import { classicType } from "../query/classic.ts";
import { typeIn } from "../query/parse.ts";

export const TYPE_DEFAULT = "process_cpu:cpu:nanoseconds:cpu:nanoseconds";

/** The type that the server takes of these parameters (api_call.c). */
export function typeOf({ type, query }: { readonly type?: string | undefined; readonly query?: string | undefined }): string {
  const said = type === undefined || type === "" ? typeIn(query ?? "") ?? TYPE_DEFAULT : classicType(type) ?? type;

  // A sixth part, "delta", is no part of the name.
  return said.split(":").slice(0, 5).join(":");
}

/** "process_cpu:cpu:nanoseconds:cpu:nanoseconds" is "cpu", "memory:alloc_space:…"
 * is "alloc_space (memory)". */
export function typeName(type: string): string {
  const [family = "", sample = type] = type.split(":");

  return family === "process_cpu" || family === sample ? sample : `${sample} (${family})`;
}

export function unitOf(type: string): string {
  return type.split(":")[2] ?? "";
}
