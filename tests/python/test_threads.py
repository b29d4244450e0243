"""Threads that hold the GIL, threads that have released it, and threads that never had
it."""

from __future__ import annotations

import ctypes
import hashlib
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zlib

import spanprof
from program import ProgramCase, importable
from recording import RecordingCase, burn

NATIVE = r"""
#include <pthread.h>
#include <time.h>

__attribute__((noinline)) void *native_thread(void *seconds) {
  struct timespec now;
  double until = 0, at = 0;
  do {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    at = now.tv_sec + now.tv_nsec / 1e9;
    if (until == 0)
      until = at + *(double *)seconds;
  } while (at < until);
  return 0;
}

int run_native_thread(double seconds) {
  pthread_t thread;
  if (pthread_create(&thread, 0, native_thread, &seconds) != 0)
    return -1;
  return pthread_join(thread, 0);
}
"""


class ThreadsTest(RecordingCase):
    def test_the_last_cpu_time_of_a_short_thread_has_its_labels(self) -> None:
        def one() -> None:
            with spanprof.label(kind="short"):
                burn(0.012)

        def work() -> None:
            for _ in range(120):
                thread = threading.Thread(target=one)
                thread.start()
                thread.join()

        samples = self.record(work)
        ended = [s for s in samples if s.functions == ("[thread end]",)]
        labelled = sum(s.value for s in ended if s.labels.get("kind") == "short")
        self.assertGreater(labelled, 0)
        # The rest is without a label if the last tick came after the block.
        self.assertGreaterEqual(labelled, 0.9 * sum(s.value for s in ended))

    def test_each_thread_has_its_own_stack_and_share(self) -> None:
        truth = {}

        def one(seconds: float) -> None:
            start = time.thread_time_ns()
            burn(seconds)
            truth["one"] = time.thread_time_ns() - start

        def two(seconds: float) -> None:
            start = time.thread_time_ns()
            burn(seconds)
            truth["two"] = time.thread_time_ns() - start

        def work() -> None:
            threads = [threading.Thread(target=one, args=(0.6,)),
                       threading.Thread(target=two, args=(0.3,))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        samples = self.record(work)
        for name, true in truth.items():
            self.assert_cpu(self.cpu_s(samples, name), true / 1e9, name)

    def test_without_the_gil_time_goes_to_the_python_function(self) -> None:
        data = bytes(range(256)) * 4000
        ready = threading.Event()
        go = threading.Event()
        truth = []

        def compressing() -> None:
            zlib.compress(data)
            ready.set()
            go.wait()
            start = time.thread_time_ns()
            while (left := start + 10**9 - time.thread_time_ns()) > 0:  # see PRELUDE in program.py
                until = time.monotonic_ns() + left
                while time.monotonic_ns() < until:
                    zlib.compress(data, 9)
                    hashlib.sha256(data).digest()
            truth.append(time.thread_time_ns() - start)

        thread = threading.Thread(target=compressing)
        thread.start()
        ready.wait()

        def work() -> None:
            time.sleep(0.3)
            go.set()
            thread.join()

        samples = self.record(work)
        self.assert_cpu(self.cpu_s(samples, "compressing"), truth[0] / 1e9, "compressing")

    @unittest.skipIf(shutil.which("gcc") is None, "there is no C compiler")
    def test_threads_of_c_have_no_python_frames(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        source = pathlib.Path(directory.name, "thread.c")
        source.write_text(NATIVE)
        library = source.with_suffix(".so")
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
        native = ctypes.CDLL(str(library))
        native.run_native_thread.argtypes = [ctypes.c_double]

        samples = self.record(lambda: native.run_native_thread(1.2))
        inside = [s for s in samples if s.runs("native_thread")]
        # The library finds the thread within 200 ms, or later on a busy machine.
        self.assertGreater(sum(s.value for s in inside), 0.6e9)
        for sample in inside:
            self.assertFalse([f for f in sample.stack if f.file.endswith(".py")], sample.functions)

    def test_a_thread_that_waits_for_the_gil_has_only_the_cpu_time_that_it_used(self) -> None:
        over = threading.Event()
        truth = []

        def waiting() -> None:
            start = time.thread_time_ns()
            while not over.is_set():
                sum(range(100))
            truth.append(time.thread_time_ns() - start)

        def work() -> None:
            threads = [threading.Thread(target=waiting) for _ in range(4)]
            for thread in threads:
                thread.start()
            time.sleep(1.2)
            over.set()
            for thread in threads:
                thread.join()

        samples = self.record(work)
        self.assert_cpu(self.cpu_s(samples, "waiting"), sum(truth) / 1e9, "waiting", threads=4)

    def test_a_generator_that_moves_between_threads(self) -> None:
        def moving():
            while True:
                burn(0.05)
                yield

        def stepping(generator) -> None:
            for _ in range(6):
                next(generator)

        def work() -> None:
            generator = moving()
            for _ in range(3):
                thread = threading.Thread(target=stepping, args=(generator,))
                thread.start()
                thread.join()

        samples = self.record(work)
        inside = [[f.function.rpartition(".")[2] for f in s.stack] for s in samples if s.runs("burn")]
        self.assertTrue(inside)
        for names in inside:
            at = names.index("burn")
            self.assertEqual([n for n in names[at:] if n in ("moving", "stepping")],
                             ["moving", "stepping"])


class InterpreterThreadsTest(ProgramCase):
    def test_subinterpreters_run_during_profiling(self) -> None:
        self.run_source("""
            import spanprof, sys
            spanprof.start(sample_rate_hz=1000)
            try:
                import _interpreters as interpreters
                run = interpreters.exec
            except ImportError:
                try:
                    import _xxsubinterpreters as interpreters
                    run = interpreters.run_string
                except ImportError:
                    sys.exit(0)
            made = interpreters.create()
            run(made, "for i in range(200000): sum(range(10))")
            interpreters.destroy(made)
            burn(0.2)
        """)
        self.assertTrue([s for s in self.samples() if s.runs("burn")])

    def test_many_greenlets_are_walked(self) -> None:
        if not importable("greenlet"):
            self.skipTest("greenlet is not installed here")
        self.run_source("""
            import greenlet, spanprof
            spanprof.start(sample_rate_hz=1000)
            hub = greenlet.getcurrent()
            def one():
                while True:
                    burn(0.01)
                    hub.switch()
            def two():
                while True:
                    burn(0.01)
                    hub.switch()
            both = [greenlet.greenlet(one), greenlet.greenlet(two)]
            for _ in range(40):
                for each in both:
                    each.switch()
        """)
        for sample in self.samples():
            self.assertFalse(sample.runs("one") and sample.runs("two"), sample.functions)
        self.assertTrue([s for s in self.samples() if s.runs("one")])
        self.assertTrue([s for s in self.samples() if s.runs("two")])


if __name__ == "__main__":
    sys.exit(unittest.main())
