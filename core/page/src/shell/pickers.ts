/** The pickers of the application and of its profile type. */
import { typeName, typeOf } from "../model/choice.ts";
import type { State } from "../model/state.ts";
import type { WireApplication } from "../model/wire.ts";
import { h, safeText } from "../parts/dom.ts";
import { applicationOf, withApplication } from "../query/parse.ts";
import type { HeaderPart, Shell } from "./header.ts";

export interface Pickers extends HeaderPart {
  setApplications(applications: readonly WireApplication[]): void;
}

const NAME_MAX = 80;

/** Replaces the options of a list only if they differ, since a change would close an
 * open list. */
function fill(select: HTMLSelectElement, texts: readonly string[], chosen: number): void {
  const names = texts.map((text) => safeText(text, NAME_MAX));

  if (names.length !== select.options.length || names.some((name, index) => select.options[index]!.text !== name))
    select.replaceChildren(...names.map((name, index) => h("option", { value: index }, name)));
  if (select.selectedIndex !== chosen)
    select.selectedIndex = chosen;
}

export function pickers(shell: Shell): Pickers {
  const application = h("select", { "aria-label": "Application", class: "pick-application" });
  const type = h("select", { "aria-label": "Profile type", class: "pick-type" });
  let known: readonly WireApplication[] = [];
  let names: string[] = [];
  let types: string[] = [];

  function update(state: State): void {
    const query = state.parameters["query"] ?? "";
    const now = applicationOf(query, known.map(({ name }) => name));
    const found = known.find(({ name }) => name === now);
    const of = typeOf(state.parameters);

    names = known.map(({ name }) => name);
    if (now !== null && !found)
      names.unshift(now);
    fill(application, ["All applications", ...names], now === null ? 0 : names.indexOf(now) + 1);
    types = found ? found.types : [...new Set(known.flatMap((each) => each.types))].sort();
    if (!types.includes(of))
      types = [of, ...types];
    fill(type, types.map(typeName), types.indexOf(of));
  }

  application.addEventListener("change", () => {
    const name = names[application.selectedIndex - 1] ?? "";
    const found = known.find((each) => each.name === name);
    const has = !found || found.types.includes(typeOf(shell.state().parameters));

    shell.go({
      query: withApplication(shell.state().parameters["query"] ?? "", name), zoom: undefined,
      ...(has ? {} : { type: found.types[0] }),
    });
  });
  type.addEventListener("change", () => { shell.go({ type: types[type.selectedIndex], zoom: undefined }); });
  return {
    element: h("div", { class: "pickers" }, application, type),
    update,
    setApplications(applications) {
      known = applications;
      update(shell.state());
    },
  };
}
