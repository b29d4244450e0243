"""Profiles of `workload` programs against what they measured themselves."""

from __future__ import annotations

import json
import os
import random
from dataclasses import dataclass

from profile_reader import Sample
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
        noise: the 99th percentile of the distance that the number of samples
            explains.
        covered: CPU in samples ÷ CPU that was burned.
        samples: how many ticks there were.
    """

    wrong: float
    lost: float
    distance: float
    noise: float
    covered: float
    samples: int


def _distance(one: dict[str, float], other: dict[str, float]) -> float:
    return sum(abs(one.get(k, 0) - other.get(k, 0)) for k in one.keys() | other.keys()) / 2


def _noise(shares: dict[str, float], count: int) -> float:
    """The 99th percentile of the distance of `count` multinomial draws."""
    draw = random.Random(1)
    names, weights = list(shares), list(shares.values())
    distances = []
    for _ in range(300):
        drawn = draw.choices(names, weights, k=count)
        distances.append(_distance(shares, {n: drawn.count(n) / count for n in names}))
    return sorted(distances)[296]


def judge(samples: list[Sample], truth: dict[str, float], label: str = "span_name",
          tick_ns: int = 4_000_000) -> Verdict:
    """Compare; a span burns in the function of its name."""
    burned = [(place(s), s.labels.get(label), s.value) for s in samples]
    burned = [row for row in burned if row[0] in truth]
    total = sum(value for _, _, value in burned)
    labelled = sum(value for _, name, value in burned if name)
    shares: dict[str, float] = {}
    for _, name, value in burned:
        shares[str(name)] = shares.get(str(name), 0) + value / total
    true = {name: ns / sum(truth.values()) for name, ns in truth.items()}
    count = max(total // tick_ns, 1)
    return Verdict(
        wrong=sum(v for where, name, v in burned if name and name != where) / max(labelled, 1),
        lost=1 - labelled / total, distance=_distance(shares, true),
        noise=_noise(true, count), covered=total / sum(truth.values()), samples=count)


class AttributionCase(ProgramCase):
    """A test of a program that ends with the truth as a line of JSON."""

    def judged(self, source: str, label: str = "span_name", **options: object) -> Verdict:
        """Run it and compare."""
        done = self.run_source("from workload import burn, burner, profiled\n" + source,
                               **options)
        truth = json.loads(done.stdout.splitlines()[-1])
        return judge(self.samples(), truth, label)

    def assert_right(self, verdict: Verdict) -> None:
        """Nothing wrong, next to nothing lost."""
        if os.environ.get("SPANPROF_TEST_PRINT"):
            print(self.id().rpartition(".")[2], verdict)
        self.assertGreater(verdict.samples, 50, verdict)
        self.assertEqual(verdict.wrong, 0, verdict)
        self.assertLessEqual(verdict.lost, 0.02, verdict)
