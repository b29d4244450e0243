/** Values of a label in the order that is asked for. */
import type { WireLabelValue } from "../model/wire.ts";

export const COLUMNS = ["value", "total", "average", "deviation", "profiles"] as const;
export type Column = (typeof COLUMNS)[number];

/** As the address has it: "average", or "average-up" for the smallest first. */
export interface Order {
  column: Column;
  up: boolean;
}

export function readOrder(text: string | undefined): Order {
  const [name, direction] = (text ?? "total").split("-");
  const column = COLUMNS.find((each) => each === name) ?? "total";

  return { column, up: direction === "up" };
}

export function writeOrder({ column, up }: Order): string | undefined {
  return column === "total" && !up ? undefined : up ? `${column}-up` : column;
}

export function ordered(values: readonly WireLabelValue[], { column, up }: Order): WireLabelValue[] {
  const sign = up ? 1 : -1;

  return [...values].sort((a, b) => sign * (column === "value"
    ? (a.value ?? "").localeCompare(b.value ?? "", undefined, { numeric: true })
    : a[column] - b[column]));
}

/** Another column's largest come first, names in their order; the same column is
 * turned around. */
export function turned(order: Order, column: Column): Order {
  return { column, up: order.column === column ? !order.up : column === "value" };
}
