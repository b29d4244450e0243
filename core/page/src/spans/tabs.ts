/** Tabs according to the ARIA practices: arrow keys select a tab and show its panel. */
import { h } from "../parts/dom.ts";
import type { View } from "../views/view.ts";

export interface Tab {
  id: string;
  title: string;
  element: HTMLElement;
  /** Called when the tab is shown for the first time, and for the first time after
   * refresh(). */
  open: () => void;
}

export interface Tabs {
  readonly element: HTMLElement;
  /** Makes all tabs call open() again: the current one now, the others when they are
   * shown. */
  refresh(): void;
}

/** `parameter` of the address has the id of the open tab; by default the first is open. */
export function tabs(view: View, parameter: string, label: string, all: readonly Tab[]): Tabs {
  const opened = new Set<Tab>();
  let current = 0;
  const buttons = all.map((tab, at) => h("button", {
    type: "button", role: "tab", id: `tab-${tab.id}`, "aria-controls": `panel-${tab.id}`,
    onclick: () => { choose(at); },
    onkeydown: (event: KeyboardEvent) => {
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
      if (to === undefined)
        return;
      event.preventDefault();
      choose((to + all.length) % all.length);
      buttons[(to + all.length) % all.length]!.focus();
    },
  }, tab.title));
  const panels = all.map((tab) => h("div", { role: "tabpanel", id: `panel-${tab.id}`, "aria-labelledby": `tab-${tab.id}` }, tab.element));

  function show(chosen: number): void {
    const tab = all[chosen]!;

    current = chosen;
    buttons.forEach((button, at) => {
      button.setAttribute("aria-selected", String(at === chosen));
      button.tabIndex = at === chosen ? 0 : -1;
      panels[at]!.hidden = at !== chosen;
    });
    if (!opened.has(tab)) {
      opened.add(tab);
      tab.open();
    }
  }

  function choose(at: number): void {
    view.updateAddress({ [parameter]: at === 0 ? undefined : all[at]!.id });
    show(at);
  }

  show(Math.max(0, all.findIndex(({ id }) => id === view.state.parameters[parameter])));
  return {
    element: h("div", { class: "tabs" }, h("div", { role: "tablist", "aria-label": label }, ...buttons), ...panels),
    refresh() {
      opened.clear();
      show(current);
    },
  };
}
