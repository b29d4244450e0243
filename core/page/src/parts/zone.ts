/** The time zone in which the page shows and reads times: the browser's, or UTC. */

const MINUTE_MS = 60_000;

let isUtc = false;

export function setUtc(on: boolean): void {
  isUtc = on;
}

/** Returns by how many milliseconds the time zone is ahead of UTC at a time. */
export function zoneOffset(ms: number): number {
  return isUtc ? 0 : -new Date(ms).getTimezoneOffset() * MINUTE_MS;
}

/** Returns a date whose UTC members (getUTCHours() and so on) are the time in the time zone
 * of the page. */
export function zoned(ms: number): Date {
  return new Date(ms + zoneOffset(ms));
}

/** Converts a local time to Unix time. `localMs` is the local time, converted as if it were
 * UTC. `offset` returns by how much the time zone is ahead of UTC at a time. */
export function msOfLocal(localMs: number, offset = zoneOffset): number {
  return localMs - offset(localMs - offset(localMs));
}

/** Returns the name of the time zone at a time, such as "UTC+05:30". */
export function zoneOf(ms: number): string {
  const minutes = Math.round(zoneOffset(ms) / MINUTE_MS);
  const two = (number: number): string => String(number).padStart(2, "0");

  return minutes === 0 ? "UTC" : `UTC${minutes < 0 ? "\u2212" : "+"}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
}
