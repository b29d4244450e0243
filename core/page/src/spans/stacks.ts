/** The part of a view that shows a flame graph. Loads stacks and shows them, or
 * explains why there are none. A new request aborts the previous one. */
import { flamePanel, type DisplayOptions, type Panel } from "../flame/panel.ts";
import { originOf, originOfPair, type Origin } from "../export/origin.ts";
import type { ProfileSelection } from "../model/choice.ts";
import { treeOf, treeOfDiff, type Tree } from "../model/tree.ts";
import type { WireDiff, WireTree } from "../model/wire.ts";
import { h, replaceContent } from "../parts/dom.ts";
import { LatestRequest } from "../parts/latest.ts";
import { loadPart } from "../shell/errors.ts";
import type { View } from "../views/view.ts";
import { viewFor, whyEmpty } from "./empty.ts";
import { diffParametersOf } from "./side.ts";

export function treeTotal(tree: Tree): number {
  return tree.self.reduce((sum, value) => sum + value, 0);
}

export class StacksPlace {
  readonly element = h("div", { class: "stacks" });
  private panel: Panel | null = null;
  private readonly latest: LatestRequest;
  private display: DisplayOptions;
  private origin: Origin | null = null;

  /** `onDisplayChange` replaces the default of writing changes to the address. `display` has
   * defaults for display options that the address does not have. */
  constructor(private readonly view: View, private readonly onDisplayChange?: (change: DisplayOptions) => void, display: DisplayOptions = {}) {
    this.display = { ...display, ...view.state.parameters };
    this.latest = new LatestRequest(view.signal);
    view.signal.addEventListener("abort", () => {
      this.panel?.dispose();
      this.panel = null;
    });
  }

  /** Loads and shows the stacks of `selection` and aborts the previous request. If there are
   * none, explains why, with links for the view `linkView`. Shows errors and passes them to
   * `onFault`. Resolves to the tree, to null if there are no stacks, and to undefined
   * after an error or if aborted. */
  async load(selection: ProfileSelection, title: string, linkView = viewFor(this.view, selection), onFault?: (error: unknown) => void): Promise<Tree | null | undefined> {
    const signal = this.latest.next();

    return await loadPart(this.view, signal, async () => {
      const origin = originOf(this.view.api, selection);
      const tree = treeOf(await this.view.api.get<WireTree>("profile", { format: "tree", ...selection }, signal));
      const reason = treeTotal(tree) === 0 ? await whyEmpty(linkView, selection) : null;

      signal.throwIfAborted();
      if (reason)
        this.showInstead(reason);
      else
        this.show(tree, title, origin);
      return reason ? null : tree;
    }, (fault, error) => {
      this.showInstead(fault);
      onFault?.(error);
    });
  }

  /** Loads and shows the difference of two selections. */
  async loadDifference(base: ProfileSelection, now: ProfileSelection, title: string): Promise<void> {
    const signal = this.latest.next();

    await loadPart(this.view, signal, async () => {
      const tree = treeOfDiff(await this.view.api.get<WireDiff>("diff", { format: "tree", ...diffParametersOf(base, now) }, signal));

      if (tree.comparison!.base.total === 0 && tree.comparison!.now.total === 0)
        this.showInstead(h("p", { class: "notice", role: "status" }, "Neither time range has samples."));
      else
        this.show(tree, title, originOfPair(base, now));
    }, (fault) => { this.showInstead(fault); });
  }

  show(tree: Tree, title: string, origin: Origin): void {
    this.origin = origin;
    if (this.panel) {
      this.panel.setTree(tree);
      return;
    }
    this.panel = flamePanel({
      tree, title, origin: () => this.origin!, display: this.display, onDisplayChange: (change) => {
        if (this.onDisplayChange)
          this.onDisplayChange(change);
        else
          this.view.updateAddress(change);
      },
    });
    this.element.replaceChildren(this.panel.element);
  }

  /** The present display options. */
  currentDisplay(): DisplayOptions {
    return this.panel?.display() ?? this.display;
  }

  /** Applies a change, as passed to onDisplayChange. */
  setDisplay(change: DisplayOptions): void {
    if (this.panel)
      this.panel.setDisplay(change);
    else
      this.display = { ...this.display, ...change };
  }

  showInstead(element: HTMLElement): void {
    this.display = this.currentDisplay();
    this.panel?.dispose();
    this.panel = null;
    replaceContent(this.element, element);
  }
}
