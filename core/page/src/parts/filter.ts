/** A box that filters a list by a part of its names. */
import { h } from "./dom.ts";
import { count } from "./format.ts";

export interface Filter {
  readonly element: HTMLElement;
  /** Returns the rows whose name contains the text of the box, and shows their number. */
  apply<Row>(rows: readonly Row[], nameOf: (row: Row) => string): readonly Row[];
}

export function filterBox(noun: string, initial: string, onChange: (text: string) => void): Filter {
  const field = h("input", {
    type: "search", placeholder: `Filter ${noun}`, "aria-label": `Filter ${noun}`, value: initial, oninput: () => { onChange(field.value); },
  });
  const status = h("span", { class: "faint", role: "status" });

  return {
    element: h("span", { class: "filter" }, field, " ", status),
    apply(rows, nameOf) {
      const sought = field.value.toLowerCase();
      const found = sought === "" ? rows : rows.filter((row) => nameOf(row).toLowerCase().includes(sought));

      status.textContent = sought === "" ? "" : found.length === 0 ? `No matching ${noun}` : `${count(found.length)} of ${count(rows.length)}`;
      return found;
    },
  };
}
