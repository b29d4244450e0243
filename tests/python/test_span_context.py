"""Samples have the right span: with nested, renamed, unsampled, leaked and short spans,
and with spans that end on another thread. Each span has its share of the CPU time."""

from __future__ import annotations

import unittest

from attribution import AttributionCase, place


class SpanContextTest(AttributionCase):
    def test_three_levels_of_nested_spans(self) -> None:
        self.assert_right(self.judged("""
with profiled() as tracer:
    for _ in range(20):
        with tracer.start_as_current_span("outer"):
            burn("outer", 0.005)
            with tracer.start_as_current_span("middle"):
                burn("middle", 0.01)
                with tracer.start_as_current_span("inner"):
                    burn("inner", 0.015)
                burn("middle", 0.005)
            burn("outer", 0.005)
"""))

    def test_roots_have_the_cpu_time_of_their_children(self) -> None:
        self.run_source("""
            from workload import burn, profiled
            with profiled(root_span_only=True) as tracer:
                for _ in range(10):
                    with tracer.start_as_current_span("outer") as outer:
                        burn("outer", 0.02)
                        with tracer.start_as_current_span("inner") as inner:
                            assert "pyroscope.profile.id" not in inner.attributes
                            burn("inner", 0.08)
            """)
        burned = [s for s in self.samples() if place(s)]
        self.assert_covered(sum(s.value for s in burned) / 1e9, 1)
        self.assertEqual({s.labels.get("span_name") for s in burned}, {"outer"})
        self.assertEqual(len({s.labels["profile_id"] for s in burned}), 10)

    def test_children_carry_the_names_of_their_ancestors(self) -> None:
        done = self.run_source("""
            from workload import burn, profiled
            with profiled() as tracer:
                with tracer.start_as_current_span("outer") as outer:
                    with tracer.start_as_current_span("inner"):
                        burn("inner", 0.3)
                    print(outer.get_span_context().span_id)
            """)
        outer = int(done.stdout.splitlines()[0])
        inner = [s for s in self.samples() if place(s) == "inner"]
        self.assertTrue(inner)
        for sample in inner:
            around = sample.labels["ancestor:outer"]
            assert isinstance(around, int)
            self.assertEqual(around % 2**64, outer)

    def test_names_of_labels(self) -> None:
        for rule, names in (("legacy_span_label", {"profile_id", "span"}), ("span_id_label", {"span_id", "span_name"})):
            with self.subTest(rule=rule):
                self.run_source(f"""
                    from workload import burn, profiled
                    with profiled(root_span_only=True, {rule}=True) as tracer:
                        with tracer.start_as_current_span("outer"):
                            burn("outer", 0.1)
                    """)
                self.assertIn(names, [set(s.labels) for s in self.samples() if place(s)])

    def test_renamed_and_ended_on_another_thread(self) -> None:
        self.assert_right(self.judged("""
import threading

def work(tracer, i):
    for _ in range(4):
        span = tracer.start_span("unnamed")
        from opentelemetry import trace
        with trace.use_span(span):
            burn(f"final{i}", 0.03)
            span.update_name(f"final{i}")
            burn(f"final{i}", 0.03)
            thread = threading.Thread(target=span.end)
            thread.start()
            thread.join()
            burn(f"final{i}", 0.02)
        burn("outside", 0.005)

with profiled() as tracer:
    with tracer.start_as_current_span("outside"):
        threads = [threading.Thread(target=work, args=(tracer, i)) for i in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
import workload
workload._truth.pop("outside")
workload.print_measured()
"""))

    def test_a_live_span_has_its_current_name_in_each_window(self) -> None:
        self.run_source("""
            import spanprof
            from workload import burn, profiled
            with profiled() as tracer:
                with tracer.start_as_current_span("first") as span:
                    span.update_name("second")
                    burn("a", 0.3)
                    assert spanprof.flush(10)
                    span.update_name("third")
                    burn("b", 0.3)
                    assert spanprof.flush(10)
            """)
        names = {(place(s), s.labels.get("span_name")) for s in self.samples() if place(s)}
        self.assertEqual(names, {("a", "second"), ("b", "third")})

    def test_a_window_that_ends_by_time_has_current_names(self) -> None:
        self.run_source("""
            from workload import burn, profiled
            with profiled() as tracer:
                with tracer.start_as_current_span("first") as span:
                    span.update_name("second")
                    burn("a", 1.0)
                    import os
                    assert os.listdir(os.environ["PYROSCOPE_OUTPUT_DIRECTORY"])
            """, PYROSCOPE_UPLOAD_INTERVAL="500ms")
        names = {s.labels.get("span_name") for s in self.samples() if place(s)}
        self.assertEqual(names, {"second"})

    def test_leaked_and_open_spans_leave_one_id_on_a_sample(self) -> None:
        verdict = self.judged("""
from opentelemetry import context, trace
with profiled() as tracer:
    leaked = []
    for i in range(300):
        span = tracer.start_span(f"leaked{i % 3}")
        context.attach(trace.set_span_in_context(span))
        leaked.append(span)
        burn(f"leaked{i % 3}", 0.003)
""")
        self.assert_right(verdict)
        for sample in self.samples():
            self.assertLessEqual(len([n for n in sample.labels if not n.startswith("ancestor:")]), 8)

    def test_a_span_without_references_ends(self) -> None:
        done = self.run_source("""
            import gc, spanprof
            from workload import profiled
            with profiled() as tracer:
                for i in range(1000):
                    tracer.start_span("forgotten")
                gc.collect()
                print(spanprof.stats()["spans_live"])
                kept = [tracer.start_span("kept") for _ in range(10)]
                print(spanprof.stats()["spans_live"])
            """)
        self.assertEqual(done.stdout.splitlines()[:2], ["0", "10"])

    def test_unsampled_spans_show_their_sampled_ancestor(self) -> None:
        self.run_source("""
            from opentelemetry import trace
            from opentelemetry.sdk.trace.sampling import Decision, Sampler, SamplingResult
            from workload import burn, profiled
            import contextvars, threading

            class ByName(Sampler):
                def should_sample(self, parent_context, trace_id, name, *args, **kwargs):
                    return SamplingResult({"d": Decision.DROP, "r": Decision.RECORD_ONLY}.get(
                        name[0], Decision.RECORD_AND_SAMPLE))
                def get_description(self): return "by name"

            with profiled() as tracer:
                tracer.sampler = ByName()
                with tracer.start_as_current_span("dropped"):
                    burn("dropped", 0.1)
                with tracer.start_as_current_span("recorded"):
                    burn("recorded", 0.1)
                with tracer.start_as_current_span("sampled"):
                    with tracer.start_as_current_span("dropped") as dropped:
                        assert not dropped.is_recording()
                        burn("dropped_inside", 0.1)
                        copied = contextvars.copy_context()
                        with tracer.start_as_current_span("dropped"):
                            burn("dropped_twice", 0.1)
                    with tracer.start_as_current_span("recorded"):
                        burn("recorded_inside", 0.1)
                thread = threading.Thread(target=copied.run, args=(burn, "dropped_copied", 0.1))
                thread.start()
                thread.join()
                with trace.use_span(dropped):
                    burn("dropped_again", 0.1)
            """)
        names: dict[str | None, set[object]] = {}
        for sample in self.samples():
            names.setdefault(place(sample), set()).add(sample.labels.get("span_name"))
        names.pop(None, None)
        self.assertEqual(names, {
            "dropped": {None}, "recorded": {None}, "dropped_inside": {"sampled"},
            "dropped_twice": {"sampled"}, "recorded_inside": {"sampled"},
            "dropped_copied": {"sampled"}, "dropped_again": {"sampled"}})

    def test_remote_spans_and_spans_of_other_tracers(self) -> None:
        self.run_source("""
            from opentelemetry import context, trace
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags
            from workload import burn, profiled

            class Wrapped(trace.Span if hasattr(trace, "Span") else object):
                def __init__(self, inner): self.inner = inner
                def __getattr__(self, name): return getattr(self.inner, name)
            for name in trace.Span.__abstractmethods__:
                setattr(Wrapped, name, (lambda n: lambda self, *a, **k: getattr(self.inner, n)(*a, **k))(name))
            Wrapped.__abstractmethods__ = frozenset()

            with profiled() as tracer:
                with tracer.start_as_current_span("local"):
                    remote = NonRecordingSpan(SpanContext(1, 2, True, TraceFlags(1)))
                    with trace.use_span(remote):
                        burn("remote", 0.1)
                        with tracer.start_as_current_span("served") as served:
                            burn("served", 0.1)
                    with trace.use_span(trace.INVALID_SPAN):
                        burn("invalid", 0.1)
                    burn("local", 0.1)
                    with trace.use_span(Wrapped(served)):
                        burn("wrapped", 0.1)
                    with TracerProvider().get_tracer("other").start_as_current_span("other"):
                        burn("other", 0.1)
                    token = context.attach(context.Context({}))
                    burn("empty", 0.1)
                    context.detach(token)
                    token = context.attach(context.set_value(trace.propagation._SPAN_KEY, "no span"))
                    burn("garbage", 0.1)
                    context.detach(token)
                    burn("local", 0.1)
            """)
        names: dict[str | None, set[object]] = {}
        for sample in self.samples():
            names.setdefault(place(sample), set()).add(sample.labels.get("span_name"))
        names.pop(None, None)
        self.assertEqual(names, {
            "remote": {None}, "served": {"served"}, "invalid": {None}, "local": {"local"},
            "wrapped": {"served"}, "other": {"local"}, "empty": {None}, "garbage": {None}})


class ShareTest(AttributionCase):
    """Spans have their shares of the CPU time, apart from random deviations."""

    def assert_shares(self, source: str, limit: float | None = None) -> None:
        verdict = self.judged(source)
        self.assert_right(verdict)
        self.assertLessEqual(verdict.distance, verdict.noise if limit is None else limit, verdict)

    def test_equal_bursts_between_sleeps_in_other_spans(self) -> None:
        self.assert_shares("""
import threading, time

def work(tracer, i):
    for _ in range(200):
        with tracer.start_as_current_span(f"busy{i}"):
            burn(f"busy{i}", 0.003)
        with tracer.start_as_current_span(f"idle{i}"):
            time.sleep(0.007)

with profiled() as tracer:
    threads = [threading.Thread(target=work, args=(tracer, i)) for i in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
""")

    def test_spans_of_two_to_five_milliseconds(self) -> None:
        self.assert_shares("""
import random
draw = random.Random(1)
with profiled() as tracer:
    for i in range(600):
        name = f"span{draw.randrange(5)}"
        with tracer.start_as_current_span(name):
            burn(name, draw.uniform(0.002, 0.005))
""")

    def test_unequal_bursts(self) -> None:
        self.assert_shares("""
import time
with profiled() as tracer:
    for i in range(250):
        with tracer.start_as_current_span("long"):
            burn("long", 0.003)
        time.sleep(0.002)
        with tracer.start_as_current_span("short"):
            burn("short", 0.001)
        time.sleep(0.002)
""", 0.2)


if __name__ == "__main__":
    unittest.main()
