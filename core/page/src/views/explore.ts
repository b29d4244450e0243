import type { View } from "./view.ts";
import { flamePanel } from "../flame/panel.ts";
import { treeOf } from "../model/tree.ts";
import type { WireTree } from "../model/wire.ts";

export async function explore(view: View): Promise<void> {
  const { query, type, from, until } = view.state.parameters;
  const wire = await view.api.get<WireTree>("profile", { format: "tree", query, type, from, until }, view.signal);
  const panel = flamePanel({ tree: treeOf(wire), look: view.state.parameters, onLook: (look) => { view.note(look); }, title: "profile" });

  view.signal.addEventListener("abort", () => { panel.dispose(); });
  view.element.append(panel.element);
}
