"""Compares the CPU time in samples with the true CPU time of the same functions. `totals.py CASE
SECONDS` runs one case and prints the ratio as JSON.
"""
from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable

from workload import Truth, profiled

CASES: dict[str, Callable[[Truth, float], None]] = {}


def case(work: Callable[[Truth, float], None]) -> Callable[[Truth, float], None]:
    CASES[work.__name__] = work
    return work


def burn_in(truth: Truth, key: str, call: Callable[[], object], seconds: float) -> None:
    """Repeats a call that runs only C code, in a function whose name contains the key."""
    scope = {"now": time.thread_time, "call": call}
    exec(f"def burn_{key}(until):\n    while now() < until:\n        call()\n", scope)
    start = time.thread_time()
    scope[f"burn_{key}"](start + seconds)
    with truth.lock:
        truth.seconds[key] = truth.seconds.get(key, 0.0) + time.thread_time() - start


def in_threads(truth: Truth, key: str, call: Callable[[], object], seconds: float) -> None:
    threads = [threading.Thread(target=burn_in, args=(truth, f"{key}{n}", call, seconds / 2)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@case
def quiet(truth, seconds):
    """One thread that runs Python code."""
    truth.burner("quiet")(seconds)


@case
def pinned(truth, seconds):
    """One thread, pinned to a core on which another process runs a busy loop."""
    core = min(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    with subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) as busy:
        truth.burner("pinned")(seconds)
        busy.kill()


@case
def zlib_threads(truth, seconds):
    """Two threads in zlib, which releases the GIL."""
    data = os.urandom(1 << 16) * 16
    in_threads(truth, "zlib", lambda: zlib.compress(data, 6), seconds)


@case
def hashlib_threads(truth, seconds):
    """Two threads in hashlib, which releases the GIL."""
    data = bytes(1 << 22)
    in_threads(truth, "hash", lambda: hashlib.sha256(data).digest(), seconds)


@case
def numpy_threads(truth, seconds):
    """Two threads in numpy, which releases the GIL."""
    import numpy

    data = numpy.random.default_rng(1).random(1 << 20)
    in_threads(truth, "numpy", lambda: numpy.sort(data), seconds)


def main() -> None:
    name, seconds = sys.argv[1], float(sys.argv[2])
    print(json.dumps(dataclasses.asdict(profiled(lambda _tracer, truth: CASES[name](truth, seconds)))))


if __name__ == "__main__":
    main()
