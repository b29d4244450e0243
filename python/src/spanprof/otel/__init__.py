"""Spans of OpenTelemetry on samples, and samples on spans.

    from opentelemetry import trace
    from spanprof.otel import SpanProcessor

    trace.get_tracer_provider().add_span_processor(SpanProcessor())

Needs opentelemetry-sdk.
"""
from __future__ import annotations

from ._processor import SpanProcessor

__all__ = ["SpanProcessor"]
