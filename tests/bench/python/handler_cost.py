"""Measures the cost of a sample for the sampled thread, 25 Python frames deep: `handler_cost.py
LIBRARY TURNS`. LIBRARY is the compiled ambush.c, and TURNS is the number of signals of each kind.
"""
from __future__ import annotations

import ctypes
import json
import signal
import statistics
import sys
import tempfile

import spanprof
from opentelemetry.sdk.trace import TracerProvider

DEPTH = 25


def deep(depth: int, call) -> None:
    if depth > 1:
        deep(depth - 1, call)
    else:
        call()


def main() -> None:
    # PyDLL does not release the GIL, so the signals arrive as in Python code.
    library = ctypes.PyDLL(sys.argv[1])
    library.ambush_turn.restype = ctypes.c_uint64
    turns = int(sys.argv[2])
    number = signal.SIGRTMIN + 9
    times: dict[int, list[int]] = {0: [], 1: [], 2: []}

    def take() -> None:
        for turn in range(turns + 20):
            for kind in times:
                took = library.ambush_turn(1 if kind == 1 else 0)
                if turn >= 20:
                    times[kind].append(took)

    with tempfile.TemporaryDirectory() as directory:
        if not spanprof.start(application_name="bench", output_directory=directory, signal_number=number):
            raise SystemExit(f"not profiled: {spanprof.unavailable_reason()}")
        provider = TracerProvider()
        provider.add_span_processor(spanprof.SpanProcessor())
        if library.ambush_begin(number) != 0:
            raise SystemExit("the signals cannot be used")
        with provider.get_tracer("bench").start_as_current_span("GET /orders"):
            deep(DEPTH, take)
        spanprof.stop()
    median = {kind: statistics.median(found) / 1000 for kind, found in times.items()}
    print(json.dumps({"ours_us": median[1] - median[0], "control_us": median[2] - median[0],
                      "counting_us": median[0], "turns": turns}))


if __name__ == "__main__":
    main()
