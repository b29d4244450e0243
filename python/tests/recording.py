"""A session around a piece of the test itself."""

from __future__ import annotations

import os
import pathlib
import tempfile
import time
import unittest
from collections.abc import Callable

import profile_reader
import spanprof


def burn(seconds: float) -> None:
    """CPU time of the calling thread, all of it in this function."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        sum(range(200))


class RecordingCase(unittest.TestCase):
    """A test that looks at samples of its own process."""

    stats: dict[str, int]

    def record(self, work: Callable[[], object], *, wall_hz: int = 0,
               **options: object) -> list[profile_reader.Sample]:
        """The samples of `work`; `wall_hz`: of wall-clock time, for the test."""
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
            return profile_reader.read_samples(pathlib.Path(directory))

    def one(self, samples: list[profile_reader.Sample], function: str,
            share: float = 0.7) -> list[profile_reader.Frame]:
        """The frames of this name on stacks; they are in most of the samples."""
        frames = [frame for sample in samples for frame in sample.stack
                  if frame.function.rpartition(".")[2] == function]
        total = sum(sample.value for sample in samples)
        seen = profile_reader.cpu_ns(samples, lambda sample: any(
            frame.function.rpartition(".")[2] == function for frame in sample.stack))
        self.assertGreater(seen, share * total, f"{function} in {seen} of {total} ns")
        return frames
