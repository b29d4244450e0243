"""Adds the ids and names of OpenTelemetry's spans to samples.

    from opentelemetry import trace
    from spanprof.otel import SpanProcessor

    trace.get_tracer_provider().add_span_processor(SpanProcessor())

Needs opentelemetry-sdk, which the extra `spanprof[otel]` installs.
"""
from __future__ import annotations

try:
    from ._processor import SpanProcessor
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "opentelemetry":
        raise
    raise ModuleNotFoundError(f"{error}; to install it: pip install 'spanprof[otel]'", name=error.name) from None

__all__ = ["SpanProcessor"]
