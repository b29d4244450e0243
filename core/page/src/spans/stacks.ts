/** A flame graph's place in a view: asks for stacks, shows them, or why there
 * are none; another question takes the place of the one before it. */
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

  /** `onLook`: instead of a note in the address; `look`: where the address says
   * nothing else. */
  constructor(private readonly view: View, private readonly onLook?: (change: Look) => void, look: Look = {}) {
    this.look = { ...look, ...view.state.parameters };
    this.asking = new Latest(view.signal);
    view.signal.addEventListener("abort", () => {
      this.panel?.dispose();
      this.panel = null;
    });
  }

  /** Ends what was asked before, and shows the stacks of `asked`, or why there
   * are none, as `asking` offers ways out, or what is wrong, which `onFault` is
   * told. Resolves to their tree; null: there are none; undefined: refused, or
   * another call came in between. */
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

  /** The present look. */
  lookNow(): Look {
    return this.panel?.look() ?? this.look;
  }

  /** A change, as onLook gives it. */
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
