"""Records samples of the test's own process."""

from __future__ import annotations

import os
import pathlib
import tempfile
import time
import unittest
from collections.abc import Callable

import noise
import profile_reader
import spanprof


def burn(seconds: float) -> None:
    """Use CPU time of the calling thread in this function: at least `seconds`, and at
    most a second more until two samples were taken, which takes long on a busy
    machine."""
    until = time.thread_time() + seconds
    before = spanprof.stats()["samples_taken"]
    while (left := until - time.thread_time()) > 0:  # see PRELUDE in program.py
        end = time.monotonic() + left
        while time.monotonic() < end:
            sum(range(200))
    while time.thread_time() < until + 1 and spanprof.stats()["samples_taken"] < before + 2:
        sum(range(200))


class RecordingCase(unittest.TestCase):
    """A test that inspects samples of its own process."""

    stats: dict[str, int]
    tick_s: float
    ended_s = 0.0

    def record(self, work: Callable[[], object], *, wall_hz: int = 0,
               **options: object) -> list[profile_reader.Sample]:
        """Run `work` during a session, and return its samples. With `wall_hz`, samples
        are taken by wall-clock time at this rate."""
        if wall_hz:
            os.environ["SPANPROF_TEST_WALL_HZ"] = str(wall_hz)
            self.addCleanup(os.environ.pop, "SPANPROF_TEST_WALL_HZ", None)
        given = {"application_name": "test", "sample_rate_hz": 1000} | options
        with tempfile.TemporaryDirectory() as directory:
            self.assertTrue(spanprof.start(output_directory=directory, **given),
                            spanprof.unavailable_reason())
            try:
                work()
            finally:
                self.assertTrue(spanprof.stop(10))
            self.stats = spanprof.stats()
            self.tick_s = 1 / int(str(given["sample_rate_hz"]))
            samples = profile_reader.read_samples(pathlib.Path(directory))
            self.ended_s = profile_reader.ended_s(samples)
            return samples

    def cpu_s(self, samples: list[profile_reader.Sample], function: str | None = None) -> float:
        """CPU time of all these samples, or of those with `function` on the stack, in
        seconds."""
        return profile_reader.cpu_ns(samples, lambda sample: function is None or any(
            frame.function.rpartition(".")[2] == function for frame in sample.stack)) / 1e9

    def assert_cpu(self, seen: float, true: float, what: str, threads: int = 1) -> None:
        """Assert that `seen`, the CPU time of samples in seconds, is `true` apart from
        random deviations. `threads` threads did nothing else, so only the time at their
        ends can deviate, because each thread has its own CPU timer."""
        allowed = noise.of_time(true, true, self.tick_s, threads)
        self.assertLessEqual(seen, true + allowed, what)
        self.assertGreaterEqual(seen, true - allowed - self.ended_s, what)

    def one(self, samples: list[profile_reader.Sample], function: str) -> list[profile_reader.Frame]:
        """Return the frames of a function on all stacks. Assert that all samples have
        one, except for some at the start and the end of the session."""
        frames = [frame for sample in samples for frame in sample.stack
                  if frame.function.rpartition(".")[2] == function]
        self.assertTrue(frames, function)
        self.assert_cpu(self.cpu_s(samples, function), self.cpu_s(samples), function)
        return frames
