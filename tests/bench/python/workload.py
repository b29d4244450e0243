"""Work with known CPU times, for the benchmarks of the Python package.

Every span uses CPU time in its own function, so that the stack of a sample
identifies the span, whatever its label is. The work itself measures the true CPU
times with the thread's CPU clock.
"""
from __future__ import annotations

import pathlib
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "python"))

import profile_reader  # noqa: E402
import spanprof  # noqa: E402
from opentelemetry import trace  # noqa: E402
from opentelemetry.sdk.trace import TracerProvider  # noqa: E402

_BURNER = """
def burn_{key}(seconds):
    until = now() + seconds
    while now() < until:
        sum(range(200))
"""


@dataclass
class Truth:
    """The true CPU seconds by key, and the key of each span id. A key is the name of a
    kind of work."""

    seconds: dict[str, float] = field(default_factory=dict)
    spans: dict[str, str] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def burner(self, key: str) -> Callable[[float], None]:
        """Returns a function that uses CPU seconds, and records them under the key."""
        scope = {"now": time.thread_time}
        exec(compile(_BURNER.format(key=key), "<work>", "exec"), scope)
        burn = scope[f"burn_{key}"]

        def booked(seconds: float) -> None:
            start = time.thread_time()
            burn(seconds)
            used = time.thread_time() - start
            with self.lock:
                self.seconds[key] = self.seconds.get(key, 0.0) + used

        return booked

    def know(self, span: trace.Span, key: str) -> None:
        """Records the key of the span's id."""
        self.spans[format(span.get_span_context().span_id, "016x")] = key


@dataclass(frozen=True)
class Verdict:
    """The results of one case. Shares are of the CPU time in burners, the functions
    that burner() makes."""

    samples: int
    ratio: float  # CPU in samples / true CPU
    wrong: float  # share with the label of a span, but in the function of another span
    lost: float  # share in the function of a span, without a label
    distance: float  # half the sum of the differences between the shares by label and the true shares
    noise: float  # 99th percentile of the distance that random sampling alone causes
    shares: dict[str, float]  # share by label; "" for no label
    labels: int  # largest number of labels of one sample


def noise_99(shares: list[float], samples: int, rounds: int = 400) -> float:
    """Returns the 99th percentile of the distance for this number of random samples."""
    source = random.Random(1)
    keys = range(len(shares))
    seen = []
    for _ in range(rounds):
        counts = [0] * len(shares)
        for at in source.choices(keys, shares, k=samples):
            counts[at] += 1
        seen.append(sum(abs(c / samples - p) for c, p in zip(counts, shares)) / 2)
    return sorted(seen)[int(0.99 * rounds) - 1]


def judge(directory: str, truth: Truth, window_s: float = 0.01) -> Verdict:
    """Compares the profiles in a directory with the truth."""
    total = wrong = lost = labels = 0
    labelled: dict[str, int] = {}
    for sample in profile_reader.read_samples(pathlib.Path(directory)):
        key = next((name[5:] for name in sample.functions if name.startswith("burn_")), None)
        if key is None:
            continue
        total += sample.value
        labels = max(labels, len(sample.labels))
        span = truth.spans.get(str(sample.labels.get("profile_id", "")))
        labelled[span or ""] = labelled.get(span or "", 0) + sample.value
        if span is None:
            lost += sample.value
        elif span != key:
            wrong += sample.value
    true = sum(truth.seconds.values())
    shares = {key: seconds / true for key, seconds in truth.seconds.items()}
    samples = round(total / 1e9 / window_s)
    distance = sum(abs(labelled.get(key, 0) / total - shares.get(key, 0.0))
                   for key in {*labelled, *shares}) / 2 if total else 1.0
    return Verdict(samples, total / 1e9 / true, wrong / max(total, 1), lost / max(total, 1), distance,
                   noise_99(list(shares.values()), max(samples, 1)),
                   {key: value / max(total, 1) for key, value in labelled.items()}, labels)


def profiled(work: Callable[[trace.Tracer, Truth], None], **rules: object) -> Verdict:
    """Runs work in a session that writes its profiles to files, and compares them with
    the truth."""
    truth = Truth()
    with tempfile.TemporaryDirectory() as directory:
        if not spanprof.start(application_name="bench", output_directory=directory,
                              upload_interval_ms=2000):
            raise SystemExit(f"not profiled: {spanprof.unavailable_reason()}")
        provider = TracerProvider()
        provider.add_span_processor(spanprof.SpanProcessor(**{"root_span_only": False} | rules))
        work(provider.get_tracer("bench"), truth)
        spanprof.stop()
        return judge(directory, truth)
