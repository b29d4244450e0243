"""Functions that use CPU time and measure it, for programs that the tests profile.

The work of each span is in a function of its own, `burn_<name>`, so that the stack of a
sample shows the right span independently of the sample's labels. The function measures
its CPU time by the CPU clock of the thread.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import spanprof
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

_lock = threading.Lock()
_truth: dict[str, int] = {}
_thread = threading.local()
_threads = 0
_burners: dict[str, Callable[[float], None]] = {}

_SOURCE = """
def burn_{name}(seconds):
    start = clock()
    end = start + int(seconds * 1e9)
    while (now := clock()) < end:  # see PRELUDE in program.py
        until = wall() + (end - now)
        while wall() < until:
            for i in range(20):
                sum(values)
    book("{name}", now - start)
"""


def _book(name: str, burned: int) -> None:
    global _threads
    with _lock:
        _threads += not hasattr(_thread, "burned")
        _thread.burned = True
        _truth[name] = _truth.get(name, 0) + burned


def burner(name: str) -> Callable[[float], None]:
    """Return the function `burn_<name>`, which uses CPU time of the calling thread."""
    if name not in _burners:
        scope: dict[str, Any] = {"clock": time.thread_time_ns, "wall": time.monotonic_ns,
                                 "book": _book, "values": range(20)}
        exec(compile(_SOURCE.format(name=name), f"{name}.py", "exec"), scope)
        _burners[name] = scope[f"burn_{name}"]
    return _burners[name]


def burn(name: str, seconds: float) -> None:
    """Use CPU time in the function `burn_<name>`."""
    burner(name)(seconds)


@contextlib.contextmanager
def profiled(**rules: Any) -> Iterator[trace.Tracer]:
    """Profile a block, with a SpanProcessor that has these options, and print the
    measured CPU times."""
    rules.setdefault("root_span_only", False)
    provider = TracerProvider()
    provider.add_span_processor(spanprof.SpanProcessor(**rules))
    trace.set_tracer_provider(provider)
    assert spanprof.start(application_name="test", sample_rate_hz=250)
    yield provider.get_tracer("workload")
    assert spanprof.stop(10)
    print_measured()


def print_measured() -> None:
    """Print, as JSON, the measured CPU time of each function, the number of threads,
    and the number of dropped samples."""
    dropped = sum(value for name, value in spanprof.stats().items() if name.startswith("samples_dropped_"))
    print(json.dumps([_truth, _threads, dropped]))
