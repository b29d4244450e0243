"""Follows OpenTelemetry: each attach and detach of its context, and each new name of a
span, which a profile may need before the span ends."""
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

# The methods of a context implementation, and the method of ContextVar that each of
# them calls.
_METHODS = {"attach": "set", "detach": "reset", "get_current": "get"}


def _fault(inner: Any) -> str | None:
    """Return a sentence if a context implementation does not follow `contextvars`. Samples
    would then get wrong spans, because our ContextVar follows them."""
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
    """Return the ContextVar of OpenTelemetry's own implementation, if its methods only
    set, reset and get this variable."""
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
    """Return the key of the current span in a context, which is private to
    OpenTelemetry."""
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
    """Name profiles after the service of a provider as soon as our processor is added
    to it. A process may never start a span, like the master of a server.

    `kind` is the class of the list to which the provider adds processors. The
    provider's own method cannot be replaced: in
    `provider.add_span_processor(SpanProcessor())` it is looked up before the
    constructor installs this hook.
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
    """Wrap a context implementation: our attach, detach and get_current call those of
    `inner`. Everything else is that of `inner`, its class (for isinstance) and its
    attributes.

    Raises:
        Exception: its class cannot be inherited from.
    """
    implementation: Any = type(inner)
    attributes = vars(inner)
    # Methods that were patched on the object would hide ours, and must still be called:
    # a subclass gets them as methods, and the attributes omit them.
    patched = {name: staticmethod(attributes[name]) for name in _METHODS if name in attributes}
    if patched:
        implementation = type(implementation)(implementation.__name__, (implementation,), patched)
        attributes = {name: value for name, value in attributes.items() if name not in patched}
    # RuntimeContext is first in the method resolution order, and calls the methods of
    # the next class.
    wrapper = type(implementation)(implementation.__name__, (native.RuntimeContext, implementation),
                                   {"__slots__": (), "__module__": implementation.__module__})
    context = wrapper.__new__(wrapper, _span_key(), _variable(inner))
    context.__dict__ = attributes  # shared: an attribute that is set on either is set on both
    return context


def _follow() -> str | None:
    """Wrap OpenTelemetry's context. Return the reason if this is not possible, else None.

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
    except Exception as error:  # its class may raise anything
        return (f"{type(inner).__name__} cannot be inherited from "
                f"({type(error).__name__}: {error})")
    _follow_names()
    otel._RUNTIME_CONTEXT = context
    context._spanprof_refresh()
    return None


def install() -> bool:
    """Follow OpenTelemetry's context from now on. Further calls have no effect.

    If its implementation cannot be followed, no span is shown, the logger "spanprof"
    gets one record with the reason, and nothing is changed.

    Returns:
        Whether spans are shown.
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
