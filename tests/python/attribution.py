"""Compares the profiles of a program that uses `workload` with the CPU times that the
program measured itself."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

import noise
from profile_reader import Sample, ended_s
from program import ProgramCase

PREFIX = "burn_"


def place(sample: Sample) -> str | None:
    """The name of the function burn_NAME in which a sample was taken."""
    for function in sample.functions:
        if function.rpartition(".")[2].startswith(PREFIX):
            return function.rpartition(".")[2][len(PREFIX):]
    return None


@dataclass(frozen=True)
class Verdict:
    """Differences between labels and the measured CPU time.

    Attributes:
        wrong: share of the labelled CPU time with a wrong label: the stack has the
            function of another span than the label.
        lost: share of the CPU time in functions burn_NAME that has no label.
        distance: half the sum of the differences between the measured and the profiled
            shares of all functions.
        noise: maximum `distance` of a correct profile with so many samples.
        missing: seconds of CPU time that the program burned and that no sample has.
        missing_noise: maximum of `missing` for a correct profile with so many samples.
        samples: number of ticks in the samples.
        dropped: number of samples that the library dropped. A test fails if CPU time is
            missing, even if samples were dropped.
    """

    wrong: float
    lost: float
    distance: float
    noise: float
    missing: float
    missing_noise: float
    samples: int
    dropped: int


def judge(samples: list[Sample], truth: dict[str, float], label: str = "span_name",
          tick_ns: int = 4_000_000, threads: int = 1, dropped: int = 0) -> Verdict:
    """Compare samples with `truth`, the measured CPU time of each function burn_NAME in
    nanoseconds. `threads` threads ran these functions, each in the span NAME."""
    burned = [(place(s), s.labels.get(label), s.value) for s in samples]
    burned = [row for row in burned if row[0] in truth]
    total = sum(value for _, _, value in burned)
    labelled = sum(value for _, name, value in burned if name)
    shares: dict[str, float] = {}
    for _, name, value in burned:
        shares[str(name)] = shares.get(str(name), 0) + value / total
    true_ns = sum(truth.values())
    true = {name: ns / true_ns for name, ns in truth.items()}
    count = max(total // tick_ns, 1)
    return Verdict(
        wrong=sum(v for where, name, v in burned if name and name != where) / max(labelled, 1),
        lost=1 - labelled / total, distance=noise.distance(shares, true),
        noise=noise.of_shares(true, count), missing=(true_ns - total) / 1e9,
        missing_noise=noise.of_time(
            true_ns / 1e9, sum(s.value for s in samples) / 1e9, tick_ns / 1e9, threads) + ended_s(samples),
        samples=count, dropped=dropped)


class AttributionCase(ProgramCase):
    """A test of a program whose last line of output is JSON with the measured CPU times."""

    def judged(self, source: str, label: str = "span_name", bare: str | None = None,
               **options: object) -> Verdict:
        """Run a program and compare its profiles. Assert that samples of the function
        burn_BARE have no label `label`."""
        done = self.run_source("from workload import burn, burner, profiled, print_measured\n" + source,
                               **options)
        truth, threads, dropped = json.loads(done.stdout.splitlines()[-1])
        samples = self.samples()
        if bare:
            truth.pop(bare)
            unlabelled = [s for s in samples if place(s) == bare]
            self.assertTrue(unlabelled)
            self.assertEqual({s.labels.get(label) for s in unlabelled}, {None})
        return judge(samples, truth, label, threads=threads, dropped=dropped)

    def assert_right(self, verdict: Verdict) -> None:
        """Assert that no sample has a wrong label, at most 2 % of the CPU time has no
        label, and no CPU time is missing."""
        if os.environ.get("SPANPROF_TEST_PRINT"):
            print(self.id().rpartition(".")[2], verdict)
        self.assertGreater(verdict.samples, 50, verdict)
        self.assertEqual(verdict.wrong, 0, verdict)
        self.assertLessEqual(verdict.lost, 0.02, verdict)
        self.assertLessEqual(abs(verdict.missing), verdict.missing_noise, verdict)
