/** The place of a flame graph in a view. Loads stacks and shows them, or explains why
 * there are none. A new request replaces the previous one. */
import { flamePanel, type Look, type Panel } from "../flame/panel.ts";
import { originOf, type Origin } from "../export/origin.ts";
import { treeOf, type Tree } from "../model/tree.ts";
import type { WireTree } from "../model/wire.ts";
import { h, renew } from "../parts/dom.ts";
import { Latest } from "../parts/latest.ts";
import { inPlace } from "../shell/faults.ts";
import type { View } from "../views/view.ts";
import { viewAsking, whyEmpty, type Asked } from "./empty.ts";

export function treeTotal(tree: Tree): number {
  return tree.self.reduce((sum, value) => sum + value, 0);
}

export class StacksPlace {
  readonly element = h("div", { class: "stacks" });
  private panel: Panel | null = null;
  private readonly asking: Latest;
  private look: Look;
  private origin: Origin | null = null;

  /** `onLook` replaces the default of writing changes to the address. `look` has
   * defaults for display options that the address does not have. */
  constructor(private readonly view: View, private readonly onLook?: (change: Look) => void, look: Look = {}) {
    this.look = { ...look, ...view.state.parameters };
    this.asking = new Latest(view.signal);
    view.signal.addEventListener("abort", () => {
      this.panel?.dispose();
      this.panel = null;
    });
  }

  /** Loads and shows the stacks of `asked` and aborts the previous request. If there are
   * none, explains why, with links for the view `asking`. Shows errors and passes them to
   * `onFault`. Resolves to the tree, to null if there are no stacks, and to undefined
   * after an error or if aborted. */
  async ask(asked: Asked, title: string, asking = viewAsking(this.view, asked), onFault?: (error: unknown) => void): Promise<Tree | null | undefined> {
    const signal = this.asking.next();

    return await inPlace(this.view, signal, async () => {
      const origin = originOf(this.view.api, asked);
      const tree = treeOf(await this.view.api.get<WireTree>("profile", { format: "tree", ...asked }, signal));
      const why = treeTotal(tree) === 0 ? await whyEmpty(asking, asked) : null;

      signal.throwIfAborted();
      if (why)
        this.showInstead(why);
      else
        this.show(tree, title, origin);
      return why ? null : tree;
    }, (fault, error) => {
      this.showInstead(fault);
      onFault?.(error);
    });
  }

  show(tree: Tree, title: string, origin: Origin): void {
    this.origin = origin;
    if (this.panel) {
      this.panel.setTree(tree);
      return;
    }
    this.panel = flamePanel({
      tree, title, origin: () => this.origin!, look: this.look, onLook: (change) => {
        if (this.onLook)
          this.onLook(change);
        else
          this.view.note(change);
      },
    });
    this.element.replaceChildren(this.panel.element);
  }

  /** The present display options. */
  lookNow(): Look {
    return this.panel?.look() ?? this.look;
  }

  /** Applies a change, as passed to onLook. */
  setLook(change: Look): void {
    if (this.panel)
      this.panel.setLook(change);
    else
      this.look = { ...this.look, ...change };
  }

  showInstead(element: HTMLElement): void {
    this.look = this.lookNow();
    this.panel?.dispose();
    this.panel = null;
    renew(this.element, element);
  }
}
