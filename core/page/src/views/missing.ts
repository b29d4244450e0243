/** The view for unknown addresses. */
import { VIEWS, VIEW_NAMES } from "../model/state.ts";
import { h, safeText } from "../parts/dom.ts";
import { toOtherView } from "../spans/links.ts";
import type { View } from "./view.ts";

const PATH_MAX = 200;

export function missing(view: View): Promise<void> {
  const path = view.state.parameters["path"] ?? "";
  const links = VIEW_NAMES.filter((name) => !VIEWS[name].under)
    .map((name) => h("li", {}, h("a", { href: view.address(toOtherView({ path: undefined }), name) }, VIEWS[name].title)));

  view.title("");
  view.element.append(h("h1", {}, "Page not found"),
    h("p", { class: "notice", role: "status" }, `This server has no page ${safeText(path, PATH_MAX)}. Choose one of these pages:`), h("ul", {}, ...links));
  return Promise.resolve();
}
