"""Measures the cost of a span of OpenTelemetry's SDK. `span_cost.py empty|ours root|child
COUNT` prints nanoseconds per span: with a processor that does nothing, or with
spanprof's processor and context hook. `run` alternates processes of both kinds."""
from __future__ import annotations

import json
import sys
import tempfile
import time

import spanprof
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider


def main() -> None:
    which, kind, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    provider = TracerProvider()
    with tempfile.TemporaryDirectory() as directory:
        if which == "ours":
            if not spanprof.start(application_name="bench", output_directory=directory):
                raise SystemExit(f"not profiled: {spanprof.unavailable_reason()}")
            provider.add_span_processor(spanprof.SpanProcessor(root_span_only=kind == "root"))
        else:
            provider.add_span_processor(SpanProcessor())
        tracer = provider.get_tracer("bench")

        def spans() -> float:
            start = time.thread_time_ns()
            for _ in range(count):
                with tracer.start_as_current_span("GET /orders"):
                    pass
            return (time.thread_time_ns() - start) / count

        if kind == "root":
            spans()
            best = min(spans() for _ in range(5))
        else:
            with tracer.start_as_current_span("root"):
                spans()
                best = min(spans() for _ in range(5))
        with tracer.start_as_current_span("root") as span:
            labelled = "pyroscope.profile.id" in (span.attributes or {})
        spanprof.stop()
    print(json.dumps({"ns": best, "labelled": labelled}))


if __name__ == "__main__":
    main()
