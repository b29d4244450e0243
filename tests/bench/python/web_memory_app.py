"""A small Flask service that makes a span for each request. ../web_memory.py
runs it."""
import os

import flask
from opentelemetry.sdk.trace import TracerProvider

application = flask.Flask(__name__)
provider = TracerProvider()
tracer = provider.get_tracer("bench")
if os.environ["BENCH_KIND"] == "ours":
    import spanprof

    if not spanprof.start(application_name="bench", server_address=os.environ["BENCH_SINK"]):
        raise SystemExit(f"not profiled: {spanprof.unavailable_reason()}")
    provider.add_span_processor(spanprof.SpanProcessor())


@application.route("/<path:path>")
def answer(path: str) -> flask.Response:
    with tracer.start_as_current_span(f"GET /{path}"):
        found = [{"id": index, "text": str(index) * 3} for index in range(500)]
        found.sort(key=lambda one: one["text"])
        return flask.jsonify(found)
