/** Links that compare the time before an annotation with the time after it. */
import { beforeAndAfter } from "../model/range_pair.ts";
import type { Range } from "../model/range.ts";
import type { View } from "../views/view.ts";
import { toOtherView } from "./links.ts";
import { pairChange } from "./side.ts";

/** `range` is the displayed range. */
export function comparisonsAt(view: View, query: string | undefined, range: Range, ms: number): { name: string; address: string }[] {
  const change = toOtherView({ ...pairChange(beforeAndAfter(ms, range, Date.now())), query });

  return [
    { name: "Compare before and after", address: view.address(change, "comparison") },
    { name: "Diff before and after", address: view.address(change, "comparison-diff") },
  ];
}
