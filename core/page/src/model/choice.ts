/** The selected profiles, their type and its display name. */
import { classicType } from "../query/classic.ts";
import { typeIn } from "../query/parse.ts";

/** Parameters of an API request for profiles. */
export interface ProfileSelection {
  query?: string | undefined;
  type?: string | undefined;
  from?: string | undefined;
  until?: string | undefined;
  span?: string | undefined;
  trace?: string | undefined;
}

export const TYPE_DEFAULT = "process_cpu:cpu:nanoseconds:cpu:nanoseconds";

/** The profile type that the server derives from these parameters (api_call.c). */
export function typeOf({ type, query }: { readonly type?: string | undefined; readonly query?: string | undefined }): string {
  const full = type === undefined || type === "" ? typeIn(query ?? "") ?? TYPE_DEFAULT : classicType(type) ?? type;

  // A type may have a sixth part, "delta", which is not part of its name.
  return full.split(":").slice(0, 5).join(":");
}

/** The display name: "process_cpu:cpu:nanoseconds:cpu:nanoseconds" becomes "cpu",
 * "memory:alloc_space:…" becomes "alloc_space (memory)". */
export function typeName(type: string): string {
  const [family = "", sample = type] = type.split(":");

  return family === "process_cpu" || family === sample ? sample : `${sample} (${family})`;
}

export function unitOf(type: string): string {
  return type.split(":")[2] ?? "";
}
