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

/** Programs whose spans get flame graphs on this page. */
function snippets(server: string): (readonly [title: string, text: string])[] {
  return [
    ["Any program, without code changes", `export OTEL_SERVICE_NAME=my-app
export PYROSCOPE_SERVER_ADDRESS=${server}      # profiles
export OTEL_EXPORTER_OTLP_ENDPOINT=${server}   # traces
spanprof exec -- ruby app.rb`],
    ["Ruby", `require "opentelemetry/sdk"
require "opentelemetry-exporter-otlp"   # sends traces to OTEL_EXPORTER_OTLP_ENDPOINT=${server}
require "spanprof"

Spanprof.start(server_address: "${server}")
OpenTelemetry::SDK.configure { |config| config.service_name = "my-app" }
OpenTelemetry.tracer_provider.add_span_processor Spanprof::SpanProcessor.new
OpenTelemetry.tracer_provider.tracer("my-app").in_span("first") { 3_000_000.times { |i| i * i } }`],
    ["Python", `import spanprof
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

spanprof.start(server_address="${server}")
provider = TracerProvider(resource=Resource.create({"service.name": "my-app"}))
provider.add_span_processor(spanprof.SpanProcessor())
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter("${server}/v1/traces")))
trace.set_tracer_provider(provider)
with trace.get_tracer("my-app").start_as_current_span("first"):
    sum(i * i for i in range(3_000_000))`],
    ["C", `#include <spanprof/spanprof.h>

int main(void) {
  spanprof_options options;
  spanprof_session *session;

  spanprof_options_init(&options, sizeof options);
  options.application_name = "my-app";
  options.server_address = "${server}";
  if (spanprof_session_start(&options, &session) != SPANPROF_OK)
    return 1;
  {
    SPANPROF_SPAN_SCOPE("first"); /* active until the block ends */
    for (volatile int i = 0; i < 1000000000; i++)
      continue;
  }
  spanprof_session_stop(session, 2000);
  return 0;
}`],
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
