/** The sort order of a label's values. */
import type { WireLabelValue } from "../model/wire.ts";

export const COLUMNS = ["value", "total", "average", "deviation", "profiles"] as const;
export type Column = (typeof COLUMNS)[number];

/** In the address: "average", or "average-up" for ascending order. */
export interface Order {
  column: Column;
  isAscending: boolean;
}

export function readOrder(text: string | undefined): Order {
  const [name, direction] = (text ?? "total").split("-");
  const column = COLUMNS.find((each) => each === name) ?? "total";

  return { column, isAscending: direction === "up" };
}

export function writeOrder({ column, isAscending: isAscending }: Order): string | undefined {
  return column === "total" && !isAscending ? undefined : isAscending ? `${column}-up` : column;
}

export function ordered(values: readonly WireLabelValue[], { column, isAscending: isAscending }: Order): WireLabelValue[] {
  const sign = isAscending ? 1 : -1;

  return [...values].sort((a, b) => sign * (column === "value"
    ? (a.value ?? "").localeCompare(b.value ?? "", undefined, { numeric: true })
    : a[column] - b[column]));
}

/** The order after a click on a column: the reverse for the present column; otherwise
 * descending, or ascending for names. */
export function toggled(order: Order, column: Column): Order {
  return { column, isAscending: order.column === column ? !order.isAscending : column === "value" };
}
