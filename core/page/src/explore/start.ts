/** The help for a server without profiles. */
import type { WireApplication } from "../model/wire.ts";
import { copyText } from "../flame/copy.ts";
import { h } from "../parts/dom.ts";
import type { View } from "../views/view.ts";
import { ALL_TIME } from "./default.ts";

/** The server address for profilers: the page's address without the view. */
function serverAddress(): string {
  return new URL("./", location.href).href.replace(/\/$/, "");
}

function snippets(server: string): (readonly [title: string, text: string])[] {
  return [
    ["Any program, without code changes", `PYROSCOPE_APPLICATION_NAME=my-app PYROSCOPE_SERVER_ADDRESS=${server} \\\n  spanprof exec -- ruby app.rb`],
    ["Ruby", `require "spanprof"\n\nSpanprof.start(application_name: "my-app", server_address: "${server}")`],
    ["Python", `import spanprof\n\nspanprof.start(application_name="my-app", server_address="${server}")`],
  ];
}

const CHECK_MS = 2000;

/** Reloads the view once the server has profiles. */
async function waitForProfiles(view: View): Promise<void> {
  const quiet = view.api.background();

  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, CHECK_MS));
    if (view.signal.aborted)
      return;
    // Ignore errors, which may be temporary, and ask again.
    const answer = await quiet.get<{ applications: WireApplication[] }>("applications", ALL_TIME, view.signal).catch(() => null);
    if (answer && answer.applications.length > 0) {
      view.replace({});
      return;
    }
  }
}

export function startHelp(view: View): HTMLElement {
  const cards = snippets(serverAddress()).map(([title, text]) => {
    const code = h("pre", { tabindex: "0", "aria-label": `Code: ${title}` }, text);
    const copy = h("button", {
      type: "button", "aria-label": `Copy: ${title}`,
      onclick: () => {
        void copyText(text).then((isCopied) => {
          if (isCopied)
            copy.textContent = "Copied";
          else
            getSelection()?.selectAllChildren(code);
          view.announce(isCopied ? "Copied." : "Press Ctrl+C to copy the selected text.");
        });
      },
    }, "Copy");

    return h("div", { class: "snippet" }, h("h3", {}, title, " ", copy), code);
  });

  void waitForProfiles(view);
  return h("div", { class: "start" },
    h("h2", {}, "This server has no profiles yet"),
    h("p", {}, "Send profiles in one of these ways. This page shows them when they arrive."), ...cards);
}
