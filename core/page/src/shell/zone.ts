/** The choice between the browser's time zone and UTC. For UTC, the address contains `tz=utc`,
 * so that a link also shows UTC to others. The browser stores the choice. */
import { withChange, type State } from "../model/state.ts";
import { h } from "../parts/dom.ts";
import { setUtc } from "../parts/zone.ts";
import type { HeaderPart, Shell } from "./header.ts";

const KEY = "spanprof-zone";

function isUtc(state: State): boolean {
  return state.parameters["tz"] === "utc";
}

/** Returns the state with `tz=utc` if the stored choice is UTC. */
export function withStoredZone(state: State): State {
  try {
    return localStorage.getItem(KEY) === "utc" ? withChange(state, { tz: "utc" }) : state;
  } catch {
    return state;
  }
}

/** Shows and reads times in the time zone of the state. */
export function useZoneOf(state: State): void {
  setUtc(isUtc(state));
}

export function zoneControl(shell: Shell): HeaderPart {
  const select = h("select", { "aria-label": "Time zone", title: "Time zone" },
    h("option", { value: "local" }, "Local time"), h("option", { value: "utc" }, "UTC"));

  select.addEventListener("change", () => {
    try {
      localStorage.setItem(KEY, select.value);
    } catch {
      // Without access to the storage, only the address contains the choice.
    }
    shell.go({ tz: select.value === "utc" ? "utc" : undefined });
  });
  return { element: select, update(state) { select.value = isUtc(state) ? "utc" : "local"; } };
}
