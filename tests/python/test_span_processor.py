"""SpanProcessor: its options, the attributes that it sets, and that it never raises an
exception."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
import re
import unittest
from typing import Any

import spanprof
from opentelemetry import context, trace
from opentelemetry.sdk.trace import Span, SpanProcessor, TracerProvider
from program import ProgramCase
from pyroscope.otel import PyroscopeSpanProcessor


def tracer_of(*processors: Any) -> trace.Tracer:
    provider = TracerProvider()
    for processor in processors:
        provider.add_span_processor(processor)
    return provider.get_tracer("test")


class AttributeTest(unittest.TestCase):
    def test_only_local_roots_have_an_id_by_default(self) -> None:
        tracer = tracer_of(PyroscopeSpanProcessor())
        remote = trace.NonRecordingSpan(trace.SpanContext(5, 6, True, trace.TraceFlags(1)))
        with tracer.start_as_current_span("root") as root:
            self.assertEqual(dict(root.attributes), {
                "pyroscope.profile.id": f"{root.get_span_context().span_id:016x}"})
            with tracer.start_as_current_span("child") as child:
                self.assertEqual(dict(child.attributes), {})
        with trace.use_span(remote), tracer.start_as_current_span("served") as served:
            self.assertIn("pyroscope.profile.id", served.attributes)

    def test_every_span_has_an_id_without_root_span_only(self) -> None:
        tracer = tracer_of(spanprof.SpanProcessor(root_span_only=False))
        with tracer.start_as_current_span("root"), \
                tracer.start_as_current_span("child", attributes={"own": 1}) as child:
            self.assertEqual(dict(child.attributes), {
                "own": 1, "pyroscope.profile.id": f"{child.get_span_context().span_id:016x}"})

    def test_the_span_may_be_a_keyword_argument(self) -> None:
        span = TracerProvider().get_tracer("test").start_span("a")
        for processor in (spanprof.SpanProcessor(), PyroscopeSpanProcessor()):
            processor.on_start(span=span, parent_context=None)
            processor.on_start(parent_context=None, span=span)
            processor.on_end(span=span)
            for method in (processor.on_start, processor.on_end):
                with self.assertRaises(TypeError):
                    method()  # type: ignore[call-arg]
        assert isinstance(span, Span) and span.attributes is not None
        self.assertIn("pyroscope.profile.id", span.attributes)

    def test_limits_of_attributes_hold(self) -> None:
        from opentelemetry.sdk.trace import SpanLimits

        for limits, expected in ((SpanLimits(max_span_attributes=1), 1),
                                 (SpanLimits(max_span_attributes=0), 0),
                                 (SpanLimits(max_span_attribute_length=4), 2)):
            provider = TracerProvider(span_limits=limits)
            provider.add_span_processor(spanprof.SpanProcessor(root_span_only=False))
            span = provider.get_tracer("test").start_span("a", attributes={"own": 1})
            assert isinstance(span, Span) and span.attributes is not None
            self.assertEqual(len(span.attributes), expected, limits)
            self.assertLessEqual(len(str(span.attributes.get("pyroscope.profile.id", ""))),
                                 limits.max_span_attribute_length or 16)

    def test_urls_and_baselines(self) -> None:
        tracer = tracer_of(spanprof.SpanProcessor(
            application_name="shop.cpu", server_address="http://user:secret@pyro:4040", add_url=True,
            add_baseline_urls=True, baseline_labels={"region": "eu", "tier": "1"}))
        with tracer.start_as_current_span("checkout") as span:
            found = dict(span.attributes)
        self.assertEqual(set(found), {
            "pyroscope.profile.id", "pyroscope.profile.url",
            "pyroscope.profile.baseline.url", "pyroscope.profile.diff.url"})
        self.assertTrue(found["pyroscope.profile.url"].startswith("http://pyro:4040?query=shop.cpu"))
        self.assertIn(found["pyroscope.profile.id"], found["pyroscope.profile.url"])
        self.assertNotIn("secret", json.dumps(found))
        self.assertIn("region", found["pyroscope.profile.baseline.url"])

    def test_a_template_for_urls(self) -> None:
        tracer = tracer_of(spanprof.SpanProcessor(
            url_template="https://g/{profile_id}?t={trace_id}&n={span_name}&x={{"))
        with tracer.start_as_current_span("a b" + "c" * 700) as span:
            ids = span.get_span_context()
            self.assertEqual(
                span.attributes["pyroscope.profile.url"],
                f"https://g/{ids.span_id:016x}?t={ids.trace_id:032x}&n=a%20b{'c' * 700}&x={{")

    def test_a_baseline_needs_no_url(self) -> None:
        tracer = tracer_of(spanprof.SpanProcessor(
            app_name="shop", pyroscope_endpoint="http://pyro", add_baseline_urls=True,  # names in pyroscope-otel
            baseline_labels="region=eu,tier=1"))
        with tracer.start_as_current_span("checkout") as span:
            self.assertEqual(set(span.attributes), {
                "pyroscope.profile.id", "pyroscope.profile.baseline.url", "pyroscope.profile.diff.url"})

    def test_two_processors_report_a_span_once(self) -> None:
        before = spanprof.stats()["spans_started"]
        tracer = tracer_of(spanprof.SpanProcessor(), PyroscopeSpanProcessor())
        with tracer.start_as_current_span("root"):
            pass
        self.assertEqual(spanprof.stats()["spans_started"] - before, 1)

    def test_trace_ids_of_every_length(self) -> None:
        class Ids:
            number = 1

            def generate_trace_id(self) -> int:
                return self.number

            def generate_span_id(self) -> int:
                return self.number & 0xFFFFFFFFFFFFFFFF or 1

            def is_trace_id_random(self) -> bool:
                return False

        ids = Ids()
        provider = TracerProvider(id_generator=ids)  # type: ignore[arg-type]
        provider.add_span_processor(spanprof.SpanProcessor(root_span_only=False))
        tracer = provider.get_tracer("test")
        for ids.number in (1, 255, 2**63, 2**64 - 1, 2**64, 2**120 + 1, 2**127, 2**128 - 1):
            with tracer.start_as_current_span("a", context=context.Context()) as span:
                self.assertEqual(span.attributes.get("pyroscope.profile.id"),
                                 f"{span.get_span_context().span_id:016x}", hex(ids.number))


class CompatibilityTest(unittest.TestCase):
    def test_the_names_that_programs_use(self) -> None:
        import pyroscope.otel as module

        self.assertEqual(module.PROFILE_ID_SPAN_ATTRIBUTE_KEY, "pyroscope.profile.id")
        self.assertEqual(module.PROFILE_ID_PYROSCOPE_TAG_KEY, "span_id")
        self.assertEqual(module.SPAN_NAME_PYROSCOPE_TAG_KEY, "span_name")
        self.assertEqual(module.TRACE_ID_PYROSCOPE_TAG_KEY, "trace_id")
        self.assertTrue(issubclass(PyroscopeSpanProcessor, SpanProcessor))
        inspect.signature(PyroscopeSpanProcessor).bind(
            app_name="a", server_address="b", root_span_only=True, add_span_name=True,
            add_url=False, add_baseline_urls=False, baseline_labels={}, add_trace_id=False,
            url_template=None)

    def test_every_method_of_a_processor(self) -> None:
        processor = spanprof.SpanProcessor()
        span = tracer_of().start_span("a")
        processor.on_start(span, parent_context=None)
        processor.on_start(span, None)
        processor.on_end(span._readable_span())
        processor.on_end(span._readable_span())
        self.assertIs(processor.force_flush(), True)
        self.assertIs(processor.force_flush(timeout_millis=5), True)
        processor.shutdown()


class HarmlessTest(unittest.TestCase):
    def test_wrong_options_log_one_sentence_and_raise_nothing(self) -> None:
        wrong: tuple[tuple[dict[str, Any], str], ...] = (
            ({"url_template": "http://{nonsense}"}, "url_template"),
            ({"root_span_only": "false"}, "root_span_only"),
            ({"add_url": 3}, "add_url"),
            ({"application_name": 3}, "application_name"),
            ({"app_name": 3}, "application_name"),
            ({"baseline_labels": "region"}, "baseline_labels"),
            ({"legacy_span_label": "yes"}, "legacy_span_label"),
            ({"baseline_labels": {"region": 3}}, "baseline_labels"),
            ({"baseline_labels": {"region": "eu,us"}}, "baseline_labels"),
            ({"app_name": "a\0b"}, "null"),
        )
        for options, name in wrong:
            with self.assertLogs("spanprof", "ERROR") as logged:
                processor = spanprof.SpanProcessor(**options)
            self.assertEqual(len(logged.output), 1, options)
            self.assertIn(name, logged.output[0])
            with tracer_of(processor).start_as_current_span("a") as span:
                self.assertEqual(dict(span.attributes), {})

    def test_spans_of_other_implementations_do_no_harm(self) -> None:
        processor = spanprof.SpanProcessor(root_span_only=False)

        class Raising:
            def __getattr__(self, name: str) -> Any:
                raise RuntimeError(name)

        class Slots:
            __slots__ = ("_context", "_parent", "_name")

        class Mute:
            _context = trace.SpanContext(7, 8, False, trace.TraceFlags(1))
            _parent = None
            _name = "mute"

        slots = Slots()
        slots._context = trace.SpanContext(9, 10, False, trace.TraceFlags(1))
        slots._parent, slots._name = None, "slots"
        with self.assertLogs("spanprof", "WARNING") as logged:
            for span in (None, 3, object(), Raising(), slots, Mute()):
                processor.on_start(span)  # type: ignore[arg-type]
                processor.on_end(span)  # type: ignore[arg-type]
        self.assertEqual(len(logged.output), 1)

    def test_exceptions_that_end_the_program_propagate(self) -> None:
        class Last:
            def __getattr__(self, name: str) -> Any:
                raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            spanprof.SpanProcessor().on_start(Last())  # type: ignore[arg-type]

    def test_names_of_any_text(self) -> None:
        tracer = tracer_of(spanprof.SpanProcessor(root_span_only=False))
        for name in ("", "\ud800", "ü" * 5000, "a\0b"):
            with tracer.start_as_current_span(name) as span:
                span.update_name(name + "x")
                self.assertIn("pyroscope.profile.id", span.attributes)

    def test_spans_are_copied_and_pickled_as_before(self) -> None:
        with tracer_of(spanprof.SpanProcessor()).start_as_current_span("root") as root:
            inner = trace.NonRecordingSpan(
                trace.SpanContext(root.get_span_context().trace_id, 12, False))
            with trace.use_span(inner):
                self.assertEqual(vars(copy.copy(inner)), vars(inner))
                self.assertEqual(pickle.loads(pickle.dumps(inner)).get_span_context(),
                                 inner.get_span_context())
            self.assertNotRegex(" ".join(vars(root)), re.compile("spanprof"))


class ShownTest(ProgramCase):
    def labels(self, **rules: Any) -> set[str]:
        self.run_source(f"""
            from workload import burn, profiled
            with profiled(**{rules!r}) as tracer:
                with tracer.start_as_current_span("root"):
                    burn("root", 0.3)
            """)
        return {k for s in self.samples() if s.runs("burn_root") for k in s.labels}

    def test_samples_have_id_and_name(self) -> None:
        self.assertEqual(self.labels(), {"profile_id", "span_name"})

    def test_samples_have_no_name_by_option(self) -> None:
        self.assertEqual(self.labels(add_span_name=False), {"profile_id"})

    def test_samples_have_the_trace_id_by_option(self) -> None:
        self.assertEqual(self.labels(add_trace_id=True),
                         {"profile_id", "span_name", "trace_id"})

    def test_the_compatible_processor_has_the_labels_of_the_original(self) -> None:
        self.run_source("""
            import pyroscope
            from opentelemetry.sdk.trace import TracerProvider
            from pyroscope.otel import PyroscopeSpanProcessor
            pyroscope.configure(application_name="x")
            provider = TracerProvider()
            provider.add_span_processor(PyroscopeSpanProcessor())
            with provider.get_tracer("t").start_as_current_span("root") as span:
                print(span.attributes["pyroscope.profile.id"])
                burn(0.3)
            """)
        labels = [s.labels for s in self.samples() if s.runs("burn")]
        self.assertEqual({name for each in labels for name in each}, {"span_id", "span_name"})

    def test_a_url_is_set_if_the_server_opens_it(self) -> None:
        done = self.run_source("""
            import http.server, threading
            import spanprof
            from opentelemetry.sdk.trace import TracerProvider
            from pyroscope.otel import PyroscopeSpanProcessor

            class Handler(http.server.BaseHTTPRequestHandler):
                def do_GET(self):
                    paths.append(self.path)
                    self.send_response(200)
                    self.send_header("Spanprof-Links", "span")
                    self.end_headers()

            paths = []
            server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
            threading.Thread(target=server.serve_forever, daemon=True).start()

            def attributes(processor):
                provider = TracerProvider()
                provider.add_span_processor(processor)
                with provider.get_tracer("t").start_as_current_span("root") as span:
                    return span.attributes

            address = f"http://127.0.0.1:{server.server_port}"
            assert "pyroscope.profile.url" not in attributes(spanprof.SpanProcessor())
            assert spanprof.start(application_name="shop", server_address=address)
            wait_for(lambda: "pyroscope.profile.url" in attributes(spanprof.SpanProcessor()))
            assert attributes(spanprof.SpanProcessor())["pyroscope.profile.url"].startswith(address)
            for processor in (spanprof.SpanProcessor(add_url=False), PyroscopeSpanProcessor()):
                assert "pyroscope.profile.url" not in attributes(processor)
            spanprof.stop(0)
            assert paths == ["/ready"], paths
            """)
        self.assertEqual(done.stdout, "")

    def test_urls_use_the_options_of_the_running_session(self) -> None:
        done = self.run_source("""
            import spanprof
            from opentelemetry.sdk.trace import TracerProvider
            provider = TracerProvider()
            provider.add_span_processor(spanprof.SpanProcessor(add_url=True))
            assert spanprof.start(application_name="shop", server_address="http://127.0.0.1:9")
            with provider.get_tracer("t").start_as_current_span("root") as span:
                print(span.attributes["pyroscope.profile.url"])
            """)
        self.assertTrue(done.stdout.startswith("http://127.0.0.1:9?query=shop.cpu"), done.stdout)


if __name__ == "__main__":
    unittest.main()
