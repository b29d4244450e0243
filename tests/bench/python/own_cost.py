"""Measures the CPU time of the profiler's threads and signal handlers at 100 Hz, including uploads
and the lookup of names, and the profiled CPU time. `own_cost.py json|flask|numpy|product SECONDS
SERVER` prints them as JSON.
"""
from __future__ import annotations

import json
import pathlib
import re
import sys
import time

import spanprof
from opentelemetry.sdk.trace import TracerProvider

DEPTH = 25


def own_threads_ns() -> int:
    """Returns the CPU time of the profiler's threads in nanoseconds, from /proc."""
    total = 0
    for task in pathlib.Path("/proc/self/task").iterdir():
        if task.joinpath("comm").read_text().startswith("spanprof"):
            total += int(task.joinpath("schedstat").read_text().split()[0])
    return total


def json_work():
    document = {"items": [{"id": n, "name": f"item {n}", "tags": ["a", "b"]} for n in range(40)]}
    pattern = re.compile(r"item (\d+)")

    def deep(depth):
        if depth > 1:
            return deep(depth - 1)
        text = json.dumps(document)
        return sum(int(found) for found in pattern.findall(text)) + len(json.loads(text))

    return lambda: deep(DEPTH - 3)


def flask_work():
    import flask

    application = flask.Flask("bench")

    @application.route("/orders/<int:number>")
    def orders(number):
        return flask.jsonify(number=number, items=list(range(20)))

    client = application.test_client()
    return lambda: client.get("/orders/7").status_code


def numpy_work():
    import numpy

    data = numpy.random.default_rng(1).random(1 << 14)
    return lambda: numpy.sort(data).sum()


def product_work():
    """A product of matrices, in OpenBLAS's kernels, which have no unwind tables, and its threads.
    """
    import numpy

    data = numpy.random.default_rng(1).random((512, 512))
    return lambda: data @ data


def main() -> None:
    work = {"json": json_work, "flask": flask_work, "numpy": numpy_work, "product": product_work}[sys.argv[1]]()
    seconds = float(sys.argv[2])
    if not spanprof.start(application_name="bench", server_address=sys.argv[3]):
        raise SystemExit(f"not profiled: {spanprof.unavailable_reason()}")
    provider = TracerProvider()
    provider.add_span_processor(spanprof.SpanProcessor(root_span_only=False))
    tracer = provider.get_tracer("bench")
    start, own = time.thread_time_ns(), own_threads_ns()
    while time.thread_time_ns() - start < seconds * 1e9:
        with tracer.start_as_current_span("GET /orders"):
            until = time.thread_time_ns() + 20_000_000
            while time.thread_time_ns() < until:
                work()
    spanprof.flush()
    stats = spanprof.stats()
    own = own_threads_ns() - own
    used = time.thread_time_ns() - start
    print(json.dumps({"share": (own + stats["handler_ns"]) / used, "own_ms": own / 1e6,
                      "handler_ms": stats["handler_ns"] / 1e6, "cpu_s": used / 1e9,
                      "samples": stats["samples_taken"], "no_room": stats["samples_dropped_full"],
                      "sent": stats["profiles_sent"],
                      "openblas": "openblas" in pathlib.Path("/proc/self/maps").read_text()}))
    spanprof.stop()


if __name__ == "__main__":
    main()
