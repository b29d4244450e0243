/** The default selection of Explore. */
import type { WireApplication, WireGaps, WireLabelValue } from "../model/wire.ts";
import { TYPE_DEFAULT } from "../model/choice.ts";
import type { Change } from "../model/state.ts";
import { moved, rangeChange, type Range } from "../model/range.ts";
import { withApplication } from "../query/parse.ts";
import type { View } from "../views/view.ts";

/** A range that contains all profiles, even those of hosts whose clocks are ahead. */
export const ALL_TIME = { from: "1", until: "now+1d" } as const;

/** Returns a range as long as `range`, but at least a minute, that contains the profile
 * at `timeMs`: near its end or, if `after`, near its begin. */
export function rangeAround(timeMs: number, range: Range, after: boolean): Range {
  const length = Math.max(60_000, range.untilMs - range.fromMs);
  const share = 0.1 * length;

  return after
    ? { fromMs: Math.round(timeMs - share), untilMs: Math.round(timeMs - share + length) }
    : moved({ fromMs: timeMs, untilMs: Math.round(timeMs + length) }, -0.9);
}

/** Selects the application with the largest value in the range, or in the nearest range
 * with data. Without data of the default type, selects another type. Returns null if
 * there is no data. */
export async function defaultChange(view: View, range: Range): Promise<Change | null> {
  const { type, from, until } = view.state.parameters;
  const selectionIn = async (times: { from?: string | undefined; until?: string | undefined }): Promise<Change | null> => {
    const { values } = await view.api.get<{ values: WireLabelValue[] }>("labels", { label: "service_name", type, limit: 1, ...times }, view.signal);
    const name = values[0]?.value;
    return typeof name === "string" ? { query: withApplication("", name) } : null;
  };
  const found = await selectionIn({ from, until });

  if (found)
    return found;
  const gaps = await view.api.get<WireGaps>("gaps", { type, from, until }, view.signal);
  if (gaps.before !== null || gaps.after !== null) {
    const times = rangeChange(rangeAround((gaps.before ?? gaps.after)!, range, gaps.before === null));
    return { ...await selectionIn(times), ...times };
  }
  return await otherType(view);
}

/** Without profiles of the default type, selects an application with another type. */
async function otherType(view: View): Promise<Change | null> {
  if (view.state.parameters["type"] !== undefined)
    return null;
  const { applications } = await view.api.get<{ applications: WireApplication[] }>("applications", ALL_TIME, view.signal);
  const first = applications.find(({ types }) => types.some((each) => each !== TYPE_DEFAULT));

  return first ? { query: withApplication("", first.name), type: first.types[0] } : null;
}
