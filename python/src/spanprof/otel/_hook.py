"""Replaces functions of OpenTelemetry, so that spanprof knows the current span after
each attach and detach of a context, and the new name after each `update_name` of a
span: a profile may need the name before the span ends."""
from __future__ import annotations

import contextvars
import functools
import sys
from typing import Any

from opentelemetry import context as otel
from opentelemetry.context import Context
from opentelemetry.sdk import trace
from opentelemetry.trace import INVALID_SPAN, set_span_in_context

from .._binding import native

# The methods of OpenTelemetry's own context implementation, and the method of
# ContextVar that each of them calls.
_METHODS = {"attach": "set", "detach": "reset", "get_current": "get"}


def _fault(inner: Any) -> str | None:
    """Return a sentence if a context implementation does not store its context in
    contextvars, else None. Samples would get wrong spans, because spanprof stores the
    current span in a ContextVar."""
    name = f"OpenTelemetry's context {type(inner).__name__}"
    key = otel.create_key("spanprof-check")
    inside = contextvars.copy_context()
    try:
        token = inside.run(inner.attach, Context({key: True}))
        seen = inside.run(inner.get_current).get(key)
        leaked = inner.get_current().get(key)
        inside.run(inner.detach, token)
    except Exception as error:
        return f"{name} failed ({type(error).__name__}: {error})"
    if leaked or not seen:
        return f"{name} does not follow contextvars"
    return None


def _variable(inner: Any) -> contextvars.ContextVar[Context] | None:
    """Return the ContextVar of the context implementation `inner`, if `inner` is
    OpenTelemetry's own and its methods only set, reset and get this variable.
    Otherwise return None."""
    try:
        from opentelemetry.context.contextvars_context import ContextVarsRuntimeContext
    except ImportError:
        return None
    if type(inner) is not ContextVarsRuntimeContext:
        return None
    for method, does in _METHODS.items():
        code = getattr(getattr(inner, method), "__code__", None)
        if code is None or code.co_names != ("_current_context", does):
            return None
    variable = getattr(inner, "_current_context", None)
    return variable if type(variable) is contextvars.ContextVar else None


def _span_key() -> str:
    """Return the key by which a context contains the current span. OpenTelemetry does
    not publish this key."""
    (key,) = set_span_in_context(INVALID_SPAN, Context())
    return key


def _follow_names() -> None:
    update_name = trace.Span.update_name
    if hasattr(update_name, "_spanprof"):
        return

    @functools.wraps(update_name)
    def follow(self: trace.Span, name: str) -> None:
        update_name(self, name)
        native.span_renamed(self)

    follow._spanprof = True  # type: ignore[attr-defined]
    setattr(trace.Span, "update_name", follow)


def _follow_processors(kind: Any) -> None:
    """Read the service name of a provider as soon as a SpanProcessor of spanprof is
    added to it. The first span would be too late, because some processes never start a
    span, such as the master of a web server.

    `kind` is the class of the object to which the provider passes each added processor.
    The provider's own method cannot be replaced: in
    `provider.add_span_processor(SpanProcessor())`, Python looks up this method before
    the constructor of SpanProcessor installs the hook.
    """
    add = kind.add_span_processor
    if hasattr(add, "_spanprof"):
        return

    @functools.wraps(add)
    def add_span_processor(self: Any, span_processor: trace.SpanProcessor) -> None:
        add(self, span_processor)
        provider = sys._getframe(1).f_locals.get("self")
        if isinstance(span_processor, native.SpanRules) and isinstance(provider, trace.TracerProvider):
            native.resource_of(provider)

    add_span_processor._spanprof = True  # type: ignore[attr-defined]
    kind.add_span_processor = add_span_processor


def _wrapped(inner: Any) -> Any:
    """Return an object that replaces the context implementation `inner`. Its attach,
    detach and get_current are those of RuntimeContext, which call those of `inner`. It
    shares the other methods and the attributes of `inner`, and isinstance sees the same
    class.

    Raises:
        Exception: the class of `inner` does not allow subclasses.
    """
    implementation: Any = type(inner)
    attributes = vars(inner)
    # The program may have replaced methods on the object `inner` itself. As attributes
    # of the new object, the replacements would hide the methods of RuntimeContext. So
    # they become methods of a subclass, where RuntimeContext calls them.
    patched = {name: staticmethod(attributes[name]) for name in _METHODS if name in attributes}
    if patched:
        implementation = type(implementation)(implementation.__name__, (implementation,), patched)
        attributes = {name: value for name, value in attributes.items() if name not in patched}
    # RuntimeContext is first in the method resolution order, and its methods call those
    # of the implementation.
    wrapper = type(implementation)(implementation.__name__, (native.RuntimeContext, implementation),
                                   {"__slots__": (), "__module__": implementation.__module__})
    context = wrapper.__new__(wrapper, _span_key(), _variable(inner))
    context.__dict__ = attributes  # an attribute that is set on one object is set on both
    return context


def _follow() -> str | None:
    """Replace OpenTelemetry's context implementation by `_wrapped` of it. Return the
    reason if this is not possible, else None.

    Raises:
        Exception: OpenTelemetry's internals are not as expected.
    """
    inner = otel._RUNTIME_CONTEXT
    if isinstance(inner, native.RuntimeContext):
        return None
    reason = _fault(inner)
    if reason is not None:
        return reason
    try:
        context = _wrapped(inner)
    except Exception as error:  # the class of `inner` may raise any exception
        return (f"no subclass of {type(inner).__name__} can be made "
                f"({type(error).__name__}: {error})")
    _follow_names()
    otel._RUNTIME_CONTEXT = context
    context._spanprof_refresh()
    return None


def install() -> bool:
    """Install the hooks of this module. Further calls have no effect.

    If OpenTelemetry's context implementation cannot be replaced, it stays unchanged,
    samples get no spans, and the logger "spanprof" gets one record with the reason.

    Returns:
        Whether samples get spans.
    """
    if native is None:
        return False
    for kind in (trace.SynchronousMultiSpanProcessor, trace.ConcurrentMultiSpanProcessor):
        _follow_processors(kind)
    try:
        reason = _follow()
    except Exception as error:
        reason = f"this version of opentelemetry is not supported ({type(error).__name__}: {error})"
    if reason is not None:
        native.spans_off(f"spans are not shown: {reason}")
    return native.spans_shown()
