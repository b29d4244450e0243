"""Measures resident memory: `memory.py ours|sdk SECONDS SERVER` works in spans, with the profiler or
with OpenTelemetry's SDK alone, and prints MiB after a third of the time and at the end.
"""
from __future__ import annotations

import json
import pathlib
import sys
import time

from opentelemetry.sdk.trace import TracerProvider


def resident_mib() -> float:
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise SystemExit("no VmRSS")


def main() -> None:
    which, seconds, server = sys.argv[1], float(sys.argv[2]), sys.argv[3]
    provider = TracerProvider()
    if which == "ours":
        import spanprof

        if not spanprof.start(application_name="bench", server_address=server):
            raise SystemExit(f"not profiled: {spanprof.unavailable_reason()}")
        provider.add_span_processor(spanprof.SpanProcessor(root_span_only=False))
    tracer = provider.get_tracer("bench")
    start, early = time.monotonic(), 0.0
    while (passed := time.monotonic() - start) < seconds:
        for number in range(20):
            with tracer.start_as_current_span(f"GET /orders/{number}"):
                sum(n * n for n in range(2000))
        time.sleep(0.01)
        if not early and passed > seconds * 0.3:
            early = resident_mib()
    print(json.dumps({"early_mib": early, "late_mib": resident_mib()}))
    if which == "ours":
        spanprof.stop()


if __name__ == "__main__":
    main()
