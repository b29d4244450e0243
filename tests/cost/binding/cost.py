"""cost.py MARKS_SO: runs spans without spanprof and with spanprof, so that
check_binding_cost.py can count their instructions under callgrind."""
import contextvars
import ctypes
import gc
import os
import sys
import tempfile

import spanprof
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider

TIMES = 500
marks = ctypes.CDLL(sys.argv[1])
marks.cost_end.argtypes = [ctypes.c_char_p, ctypes.c_int]


def nothing(tracer, name):
    with tracer.start_as_current_span(name):
        pass


def count(case, tracer, name):
    for _ in range(TIMES):  # not counted: fills caches and pools
        nothing(tracer, name)
    gc.collect()
    gc.disable()
    marks.cost_begin()
    for _ in range(TIMES):
        nothing(tracer, name)
    marks.cost_end(case.encode(), TIMES)
    gc.enable()


def settle(tracer):
    """Restart with another hash seed if the context's two variables, spanprof's and
    OpenTelemetry's, have the same slot in the root of the context's trie. This is
    so in one of 32 layouts, and a span then takes thousands of instructions more.
    The slot is the last five bits of the folded hash (hamt_hash() in CPython's
    Python/hamt.c, 3.11)."""
    with tracer.start_as_current_span("GET /orders"):
        hashes = [(hash(variable) ^ hash(variable) >> 32) & 31 for variable in contextvars.copy_context()]
    if len(hashes) > len(set(hashes)):
        seed = str(int(os.environ["PYTHONHASHSEED"]) + 1)
        print(f"two variables share a slot of the context; restarting with PYTHONHASHSEED={seed}", flush=True)
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": seed})


def cases(suffix, processor):
    provider = TracerProvider()
    provider.add_span_processor(processor)
    tracer = provider.get_tracer("cost")
    settle(tracer)
    count("root" + suffix, tracer, "GET /orders")
    with tracer.start_as_current_span("GET /orders"):
        count("child" + suffix, tracer, "SELECT orders")


cases("_without", SpanProcessor())
with tempfile.TemporaryDirectory() as directory:
    if not spanprof.start(application_name="cost", output_directory=directory, sample_rate_hz=1):
        sys.exit(spanprof.unavailable_reason())
    cases("", spanprof.SpanProcessor(app_name="cost.cpu", server_address="http://localhost:4040", add_url=True))
    spanprof.stop()
