"""OpenTelemetry with other context implementations than its own, also with broken ones:
the program sees the behaviour of its implementation, and no sample has a wrong span."""

from __future__ import annotations

import textwrap
import unittest

from attribution import AttributionCase, place

CONTEXTS = """
import threading
from contextvars import ContextVar
from opentelemetry import context as otel
from opentelemetry.context.context import Context, _RuntimeContext

class OwnVariable(_RuntimeContext):
    def __init__(self): self.here = ContextVar("here", default=Context())
    def attach(self, context): return (self.here.set(context), "mine")
    def get_current(self): return self.here.get()
    def detach(self, token): self.here.reset(token[0])
    extra = "kept"

class ThreadLocal(_RuntimeContext):
    def __init__(self): self.local = threading.local()
    def attach(self, context):
        before = self.get_current()
        self.local.context = context
        return before
    def get_current(self): return getattr(self.local, "context", Context())
    def detach(self, token): self.local.context = token

class Broken(OwnVariable):
    broken = False
    def get_current(self):
        if self.broken: raise RuntimeError("out of order")
        return super().get_current()

"""


class OtherContextTest(AttributionCase):
    def run_program(self, source: str) -> str:
        """Run a program with the classes above. Return its standard error, which has
        the log."""
        return self.run_source(
            CONTEXTS + "import logging; logging.basicConfig(format='LOG %(message)s')\n"
            "from workload import burn, profiled\n" + textwrap.dedent(source), OTEL_SERVICE_NAME="test").stderr

    def spans_of(self, name: str) -> set[object]:
        return {s.labels.get("span_name") for s in self.samples() if place(s) == name}

    def test_an_implementation_that_uses_contextvars_is_followed(self) -> None:
        self.run_program("""
            otel._RUNTIME_CONTEXT = inner = OwnVariable()
            with profiled() as tracer:
                with tracer.start_as_current_span("span"):
                    burn("inside", 0.1)
                burn("outside", 0.1)
            hook = otel._RUNTIME_CONTEXT
            assert hook.extra == "kept" and isinstance(hook, _RuntimeContext)
            hook.extra = "changed"
            assert inner.extra == "changed"
            token = otel.attach(Context())
            assert token[1] == "mine"
            otel.detach(token)
            assert not hasattr(hook, "missing")
            """)
        self.assertEqual(self.spans_of("inside"), {"span"})
        self.assertEqual(self.spans_of("outside"), {None})

    def test_an_implementation_without_contextvars_is_not_changed(self) -> None:
        log = self.run_program("""
            otel._RUNTIME_CONTEXT = inner = ThreadLocal()
            with profiled() as tracer:
                assert otel._RUNTIME_CONTEXT is inner
                import spanprof
                with tracer.start_as_current_span("span") as span, spanprof.label(k="v"):
                    assert span.attributes["pyroscope.profile.id"]
                    burn("inside", 0.1)
            """)
        self.assertIn("ThreadLocal does not follow contextvars", log)
        self.assertEqual(self.spans_of("inside"), {None})
        self.assertEqual({s.labels.get("k") for s in self.samples() if place(s) == "inside"},
                         {"v"})

    def test_an_implementation_that_fails_later_disables_spans_once(self) -> None:
        log = self.run_program("""
            otel._RUNTIME_CONTEXT = inner = Broken()
            with profiled() as tracer:
                with tracer.start_as_current_span("span"):
                    burn("before", 0.1)
                    token = otel.attach(otel.get_current())
                    Broken.broken = True
                    otel.detach(token)
                    burn("after", 0.1)
                    Broken.broken = False
                    for _ in range(3):
                        with tracer.start_as_current_span("again"):
                            burn("after", 0.1)
            """)
        self.assertEqual(log.count("LOG spans are not shown from now on"), 1, log)
        self.assertIn("RuntimeError: out of order", log)
        self.assertEqual(self.spans_of("before"), {"span"})
        self.assertEqual(self.spans_of("after"), {None})

    def test_exceptions_of_the_implementation_reach_the_program(self) -> None:
        self.run_program("""
            class Refusing(OwnVariable):
                refuse = False
                def attach(self, context):
                    if self.refuse: raise ValueError("not now")
                    return super().attach(context)
                def detach(self, token):
                    if token is None: raise KeyError("whose?")
                    super().detach(token)

            otel._RUNTIME_CONTEXT = inner = Refusing()
            with profiled() as tracer:
                hook = otel._RUNTIME_CONTEXT
                with tracer.start_as_current_span("span"):
                    for call in (lambda: hook.detach(None),):
                        try: call()
                        except KeyError as error: assert error.args == ("whose?",)
                        else: raise AssertionError
                    burn("inside", 0.1)
                    Refusing.refuse = True
                    try: hook.attach(Context())
                    except ValueError as error: assert str(error) == "not now"
                    else: raise AssertionError
                    Refusing.refuse = False
                    burn("inside", 0.1)
                burn("outside", 0.1)
            """)
        self.assertEqual(self.spans_of("inside"), {"span"})
        self.assertEqual(self.spans_of("outside"), {None})

    def test_contexts_that_are_not_a_dict(self) -> None:
        log = self.run_program("""
            from opentelemetry.trace.propagation import _SPAN_KEY
            class Chain:
                def __init__(self, span): self.span = span
                def get(self, key, default=None):
                    return self.span if key == _SPAN_KEY else default
            with profiled() as tracer:
                span = tracer.start_span("span")
                token = otel.attach(Chain(span))
                burn("inside", 0.1)
                otel.detach(token)
                burn("outside", 0.1)
                token = otel.attach(object())       # an object that is no context
                otel.detach(token)
            """)
        self.assertEqual(self.spans_of("inside"), {"span"})
        self.assertEqual(self.spans_of("outside"), {None})
        self.assertIn("spans are not shown from now on", log)

    def test_methods_that_are_replaced_later_are_called(self) -> None:
        done = self.run_program("""
            from opentelemetry.context.contextvars_context import ContextVarsRuntimeContext
            calls = []
            with profiled() as tracer:
                attach, detach = ContextVarsRuntimeContext.attach, ContextVarsRuntimeContext.detach
                def spy_attach(self, context):
                    calls.append("attach")
                    return attach(self, context)
                def spy_detach(self, token):
                    calls.append("detach")
                    detach(self, token)
                ContextVarsRuntimeContext.attach = spy_attach
                ContextVarsRuntimeContext.detach = spy_detach
                with tracer.start_as_current_span("class"):
                    burn("class", 0.1)
                assert calls == ["attach", "detach"], calls
                ContextVarsRuntimeContext.attach, ContextVarsRuntimeContext.detach = attach, detach
                hook = otel._RUNTIME_CONTEXT
                before = hook.attach
                hook.attach = lambda context: calls.append("own") or before(context)
                with tracer.start_as_current_span("object"):
                    burn("object", 0.1)
                assert calls[2:] == ["own"], calls
                burn("outside", 0.1)
            """)
        self.assertEqual(self.spans_of("outside"), {None})
        self.assertNotIn("LOG", done)
        self.assertEqual(self.spans_of("class"), {"class"})
        self.assertEqual(self.spans_of("object"), {"object"})

    def test_methods_that_were_replaced_before_are_called(self) -> None:
        self.run_program("""
            calls = []
            inner = otel._RUNTIME_CONTEXT
            attach = inner.attach
            inner.attach = lambda context: calls.append("own") or attach(context)
            with profiled() as tracer:
                with tracer.start_as_current_span("span"):
                    burn("inside", 0.1)
                burn("outside", 0.1)
                assert calls.count("own") == 2, calls    # one is the check at the installation
            """)
        self.assertEqual(self.spans_of("inside"), {"span"})
        self.assertEqual(self.spans_of("outside"), {None})

    def test_an_implementation_that_cannot_be_inherited_from_is_not_changed(self) -> None:
        log = self.run_program("""
            class Slots:
                __slots__ = ("here",)
                def __init__(self): self.here = ContextVar("here", default=Context())
                def attach(self, context): return self.here.set(context)
                def get_current(self): return self.here.get()
                def detach(self, token): self.here.reset(token)

            class Final(OwnVariable):
                def __init_subclass__(cls): raise ValueError("final")

            import spanprof
            for inner in (Slots(), Final()):
                otel._RUNTIME_CONTEXT = inner
                spanprof.SpanProcessor()
                assert otel._RUNTIME_CONTEXT is inner
            with profiled() as tracer, tracer.start_as_current_span("span"):
                burn("inside", 0.1)
            """)
        self.assertEqual(log.count("LOG spans are not shown"), 1, log)
        self.assertEqual(self.spans_of("inside"), {None})

    def test_a_detach_in_another_context_recovers(self) -> None:
        # This detach fails because the token belongs to another context, as it does at
        # the end of some asynchronous generators.
        log = self.run_program("""
            import contextvars
            from opentelemetry import trace
            with profiled() as tracer:
                with tracer.start_as_current_span("own"):
                    other = contextvars.copy_context()
                    token = other.run(lambda: otel.attach(
                        trace.set_span_in_context(tracer.start_span("elsewhere"))))
                    otel.detach(token)
                    assert trace.get_current_span().name == "own"
                    burn("own", 0.1)
                    other.run(burn, "elsewhere", 0.1)
                burn("outside", 0.1)
            """)
        self.assertIn("Failed to detach context", log)
        self.assertEqual(self.spans_of("own"), {"own"})
        self.assertEqual(self.spans_of("elsewhere"), {"elsewhere"})
        self.assertEqual(self.spans_of("outside"), {None})

    def test_a_context_implementation_that_wraps_spanprofs_keeps_working(self) -> None:
        self.run_program("""
            import spanprof
            with profiled() as tracer:
                ours = otel._RUNTIME_CONTEXT
                class Over(_RuntimeContext):
                    def attach(self, context): return ours.attach(context)
                    def get_current(self): return ours.get_current()
                    def detach(self, token): ours.detach(token)
                otel._RUNTIME_CONTEXT = Over()
                spanprof.SpanProcessor()
                with tracer.start_as_current_span("span"):
                    burn("inside", 0.1)
                burn("outside", 0.1)
            """)
        self.assertEqual(self.spans_of("inside"), {"span"})
        self.assertEqual(self.spans_of("outside"), {None})

    def test_exceptions_of_signal_handlers_reach_the_program(self) -> None:
        # A signal handler of the program raises an exception (a time limit) at any
        # time. If the signal arrives while code of spanprof runs, the exception must
        # propagate to the program, and spanprof must not treat it as its own failure.
        # If it arrives inside OpenTelemetry's detach(), OpenTelemetry discards the
        # exception.
        log = self.run_program("""
            import signal, time
            class Limit(Exception): pass
            armed = False
            def ring(*_):
                global armed
                if armed:
                    armed = False
                    raise Limit
            signal.signal(signal.SIGALRM, ring)
            hits = 0
            with profiled() as tracer:
                signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
                until = time.monotonic() + 3
                while time.monotonic() < until:
                    try:
                        armed = True
                        for _ in range(100):
                            with tracer.start_as_current_span("span"):
                                pass
                        armed = False
                    except Limit:
                        hits += 1
                signal.setitimer(signal.ITIMER_REAL, 0)
                assert hits > 100, hits
                with tracer.start_as_current_span("inside", context=Context()):
                    burn("inside", 0.1)
            """)
        self.assertNotIn("LOG spans are not shown", log)
        self.assertNotIn("LOG a span could not", log)
        self.assertEqual(self.spans_of("inside"), {"inside"})

    def test_an_opentelemetry_without_its_private_names_is_followed_or_not_changed(self) -> None:
        for missing, spans in (("opentelemetry.trace.propagation._SPAN_KEY", {"span"}),
                               ("opentelemetry.context.contextvars_context.ContextVarsRuntimeContext", {"span"}),
                               ("opentelemetry.context._RUNTIME_CONTEXT", {None}),
                               ("opentelemetry.sdk.trace.Span.update_name", {"span"})):
            with self.subTest(missing):
                for path in self.profiles.iterdir():
                    path.unlink()
                holder, _, name = missing.rpartition(".")
                log = self.run_program(f"""
                    import opentelemetry.sdk.trace, opentelemetry.trace.propagation
                    import pkgutil
                    holder = pkgutil.resolve_name({holder!r})
                    kept = getattr(holder, {name!r})
                    delattr(holder, {name!r})
                    if {name!r} == "_SPAN_KEY":  # the name exists, but is another one
                        holder.key = kept
                        for function in (holder.set_span_in_context, holder.get_current_span):
                            code = function.__code__
                            function.__code__ = code.replace(co_names=tuple(
                                "key" if name == {name!r} else name for name in code.co_names))
                    import spanprof, pyroscope.otel
                    processor = pyroscope.otel.PyroscopeSpanProcessor()
                    setattr(holder, {name!r}, kept)
                    provider = opentelemetry.sdk.trace.TracerProvider()
                    provider.add_span_processor(processor)
                    spanprof.start()
                    with provider.get_tracer("x").start_as_current_span("span"):
                        burn("inside", 0.1)
                    spanprof.stop()
                    """)
                self.assertEqual(self.spans_of("inside"), spans, log)
                self.assertEqual("LOG spans are not shown: this version of opentelemetry is not supported" in log,
                                 spans == {None}, log)


if __name__ == "__main__":
    unittest.main()
