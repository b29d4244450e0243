"""Compares profiles of `workload` programs with the CPU time that the programs measured
themselves."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

import noise
from profile_reader import Sample, ended_s
from program import ProgramCase

PREFIX = "burn_"


def place(sample: Sample) -> str | None:
    """The name of the burning function in which a sample was taken."""
    for function in sample.functions:
        if function.rpartition(".")[2].startswith(PREFIX):
            return function.rpartition(".")[2][len(PREFIX):]
    return None


@dataclass(frozen=True)
class Verdict:
    """Differences between labels and the measured CPU time.

    Attributes:
        wrong: share of the labelled CPU time whose stack is in the function of
            another span (or label) than the one that the sample carries.
        lost: share of the CPU time in the burning functions without a label.
        distance: half the summed difference of measured and profiled shares.
        noise: the part of the distance that the number of samples explains.
        missing: seconds of CPU time that were burned and are in no sample.
        missing_noise: the deviation of `missing` that the number of samples
            explains.
        samples: number of ticks.
        dropped: samples that the library dropped. Missing CPU time fails a test even
            if samples were dropped.
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
    """Compare. Each span burns in the function of its name, on this many threads."""
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
        """Run the program and compare. The CPU time in the function named `bare` has no
        such label."""
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
        """No sample has a wrong label, almost none has no label, and no CPU time is
        missing."""
        if os.environ.get("SPANPROF_TEST_PRINT"):
            print(self.id().rpartition(".")[2], verdict)
        self.assertGreater(verdict.samples, 50, verdict)
        self.assertEqual(verdict.wrong, 0, verdict)
        self.assertLessEqual(verdict.lost, 0.02, verdict)
        self.assertLessEqual(abs(verdict.missing), verdict.missing_noise, verdict)
