"""The exit of a process. `ends.py daemons` exits with 6 busy daemon threads in spans.
`ends.py hang SERVER` calls spanprof.stop() while the server hangs, and prints how
long the call took."""
from __future__ import annotations

import json
import sys
import tempfile
import threading
import time

import spanprof
from opentelemetry.sdk.trace import TracerProvider
from workers import burn_child


def burn_for_ever(tracer) -> None:
    while True:
        with tracer.start_as_current_span("burning"):
            burn_child(0.01)


def daemons() -> None:
    spanprof.start(application_name="bench", output_directory=tempfile.mkdtemp(prefix="spanprof-bench-"))
    provider = TracerProvider()
    provider.add_span_processor(spanprof.SpanProcessor())
    for _ in range(6):
        threading.Thread(target=burn_for_ever, args=(provider.get_tracer("bench"),), daemon=True).start()
    time.sleep(0.3)


def hang(server: str) -> None:
    spanprof.start(application_name="bench", server_address=server)
    burn_child(0.5)
    start = time.monotonic()
    spanprof.stop()
    print(json.dumps({"stop_s": time.monotonic() - start}))


if __name__ == "__main__":
    {"daemons": daemons, "hang": hang}[sys.argv[1]](*sys.argv[2:])
