"""Profiles of `workload` programs against what they measured themselves."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

import noise
from profile_reader import Sample, ended_s
from program import ProgramCase

PREFIX = "burn_"


def place(sample: Sample) -> str | None:
    """The name of the burning function that a sample was taken in."""
    for function in sample.functions:
        if function.rpartition(".")[2].startswith(PREFIX):
            return function.rpartition(".")[2][len(PREFIX):]
    return None


@dataclass(frozen=True)
class Verdict:
    """How far labels and truth are apart.

    Attributes:
        wrong: share of the labelled CPU whose stack is in another function than
            that of the span (or label) it carries.
        lost: share of the CPU in the burning functions without a label.
        distance: half the summed difference of true and measured shares.
        noise: what of the distance the number of samples explains.
        missing: seconds of CPU that were burned and are in no sample.
        missing_noise: what of them, more or less, the number of samples explains.
        samples: how many ticks there were.
        dropped: samples that found no room, which a verdict shows, not excuses.
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
    """Compare; a span burns in the function of its name, on so many threads."""
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
    """A test of a program that ends with the truth as a line of JSON."""

    def judged(self, source: str, label: str = "span_name", bare: str | None = None,
               **options: object) -> Verdict:
        """Run it and compare; what burns in the function of the name `bare` has
        no such label."""
        done = self.run_source("from workload import burn, burner, profiled, tell\n" + source,
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
        """Nothing wrong, next to nothing lost, all of it there."""
        if os.environ.get("SPANPROF_TEST_PRINT"):
            print(self.id().rpartition(".")[2], verdict)
        self.assertGreater(verdict.samples, 50, verdict)
        self.assertEqual(verdict.wrong, 0, verdict)
        self.assertLessEqual(verdict.lost, 0.02, verdict)
        self.assertLessEqual(abs(verdict.missing), verdict.missing_noise, verdict)
