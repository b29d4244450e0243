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
    """Burn CPU time of the calling thread in this function: for at least this time, and
    until a sample was taken, which is rare on a crowded machine."""
    until = time.thread_time() + seconds
    before = spanprof.stats()["samples_taken"]
    while (left := until - time.thread_time()) > 0:  # rarely read: see program.py
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
        """Return the samples of `work`. `wall_hz`: sample by wall-clock time at this rate."""
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
        """CPU time in seconds in a function of this name, or in all."""
        return profile_reader.cpu_ns(samples, lambda sample: function is None or any(
            frame.function.rpartition(".")[2] == function for frame in sample.stack)) / 1e9

    def assert_cpu(self, seen: float, true: float, what: str, threads: int = 1) -> None:
        """CPU time in seconds of this many threads that did nothing else. Each has its
        own clock, so that only their ends are random."""
        allowed = noise.of_time(true, true, self.tick_s, threads)
        self.assertLessEqual(seen, true + allowed, what)
        self.assertGreaterEqual(seen, true - allowed - self.ended_s, what)

    def one(self, samples: list[profile_reader.Sample], function: str) -> list[profile_reader.Frame]:
        """The frames of this name on stacks. All samples except those of the session's
        start and end have one."""
        frames = [frame for sample in samples for frame in sample.stack
                  if frame.function.rpartition(".")[2] == function]
        self.assertTrue(frames, function)
        self.assert_cpu(self.cpu_s(samples, function), self.cpu_s(samples), function)
        return frames
