"""Common code of the stress programs: a session at 10 kHz of wall-clock time on
every thread, together with faulthandler and an interval timer with a Python
handler; and checks of the results.

    SPANPROF_STRESS_SECONDS  duration of each program, default 5
    SPANPROF_TEST_WALL_HZ    default 10000
"""
from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "../../python"))

import profile_reader  # noqa: E402

SECONDS = float(os.environ.get("SPANPROF_STRESS_SECONDS", "5"))

# Matches a function name that ends with a number, such as those of source_of().
MARKED = re.compile(r"(?:^|\.)(?:mark|outer|inner)_(\d+)$")


class Failure(Exception):
    """An expectation of the stress program is violated."""


def check(good: bool, text: str) -> None:
    if not good:
        raise Failure(text)


def until_over() -> Iterator[int]:
    """Yield 0, 1, 2 and so on until the end of the working time."""
    end = time.monotonic() + SECONDS
    count = 0
    while time.monotonic() < end:
        yield count
        count += 1


def source_of(number: int, body: str = "pass") -> tuple[str, str]:
    """Return the file name and the source of a module. The names, the file and the lines of its
    functions contain the number."""
    line = number % 97 + 1
    text = "\n" * (line - 1) + (
        f"def outer_{number}(x):\n"
        f"    return inner_{number}(x)\n"
        f"def inner_{number}(x):\n"
        f"    for i in range(20): x += i\n"
        f"    {body}\n"
        f"    return x\n")
    return f"<module {number}>", text


def check_marked(samples: list[profile_reader.Sample]) -> int:
    """Check every frame of a function of source_of(): its file and its line must belong to the
    number in its name, and an outer function must call the inner function with the same number.
    Returns the number of such frames."""
    seen = 0
    for sample in samples:
        below = None
        for frame in sample.stack:
            match = re.fullmatch(r"(outer|inner)_(\d+)", frame.function)
            if not match:
                below = frame
                continue
            seen += 1
            number = int(match[2])
            first = number % 97 + 1 + (2 if match[1] == "inner" else 0)
            check(frame.file == f"<module {number}>",
                  f"{frame.function} in {frame.file}")
            check(frame.start_line == first,
                  f"{frame.function} starts at {frame.start_line}, not {first}")
            check(first <= frame.line <= first + 3,
                  f"{frame.function} at {frame.line}, starts at {first}")
            if match[1] == "outer" and below and below.function.startswith("inner_"):
                check(below.function == f"inner_{number}",
                      f"{frame.function} calls {below.function}")
            below = frame
    return seen


def reap(pid: int) -> int:
    """Return the exit status of a forked child. If the child hangs, kill it and raise Failure."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(pid, signal.SIGABRT)
    os.waitpid(pid, 0)
    raise Failure("a child hung")


_walks: list[ctypes.CDLL] = []


@contextlib.contextmanager
def walked() -> Iterator[None]:
    """Within this context, running threads receive many signals: see ../walks.c."""
    if not _walks:
        with tempfile.TemporaryDirectory() as directory:
            library = os.path.join(directory, "walks.so")
            subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-pthread", "-o", library,
                            os.path.join(os.path.dirname(__file__), "..", "walks.c")], check=True)
            _walks.append(ctypes.CDLL(library))
    error = _walks[0].walks_begin()
    check(error == 0, f"no more signals: {os.strerror(error)}")
    try:
        yield
    finally:
        _walks[0].walks_end()


def _beside() -> None:
    faulthandler.enable()
    signal.signal(signal.SIGALRM, lambda number, frame: None)
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)


def run(work: Callable[[], str], wall_hz: int = 10000,
        inspect: Callable[[list[profile_reader.Sample]], str] | None = None) -> None:
    """Profile `work` on a wall clock at `wall_hz`, or on CPU clocks if it is 0. Check that the
    counters account for each sample, and print one line. Exits with 1 after a failure."""
    import spanprof

    if wall_hz:
        os.environ.setdefault("SPANPROF_TEST_WALL_HZ", str(wall_hz))
    name = os.path.basename(sys.argv[0])
    directory = tempfile.mkdtemp(prefix="spanprof-stress-")
    status = 1
    try:
        _beside()
        check(spanprof.start(application_name=name, output_directory=directory,
                             upload_interval_ms=1000, log_level="error"),
              f"no start: {spanprof.unavailable_reason()}")
        done = work()
        signal.setitimer(signal.ITIMER_REAL, 0)
        spanprof.stop(10)
        stats = spanprof.stats()
        dropped = sum(value for key, value in stats.items()
                      if key.startswith("samples_dropped_"))
        check(stats["samples_taken"] > 100, f"{stats['samples_taken']} samples")
        check(stats["samples_taken"] == stats["samples_exported"] + dropped,
              f"samples unaccounted for: {stats}")
        samples = profile_reader.read_samples(directory)
        check(bool(samples), "no profiles")
        found = inspect(samples) if inspect else ""
        known = spanprof._native.runtime_stats()
        print(f"{name}: Python {sys.version.split()[0]}, {done}; "
              f"{stats['samples_taken']} samples, {dropped} dropped, "
              f"{stats['stacks_walk_cut']} stacks cut, "
              f"{stats['frames_unnamed']} unnamed, "
              f"{known['code_objects']} code objects, "
              f"{known['code_overflows']} overflowed, "
              f"{known['code_spaces_emptied']} times emptied; {found}", flush=True)
        status = 0
    except Failure as failure:
        print(f"{name}: Python {sys.version.split()[0]}: {failure}", flush=True)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    sys.exit(status)
