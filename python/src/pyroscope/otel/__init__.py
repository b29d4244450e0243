"""`PyroscopeSpanProcessor` under the name that programs import it by."""
from __future__ import annotations

from spanprof.otel import SpanProcessor

PROFILE_ID_SPAN_ATTRIBUTE_KEY = "pyroscope.profile.id"
PROFILE_ID_PYROSCOPE_TAG_KEY = "span_id"
SPAN_NAME_PYROSCOPE_TAG_KEY = "span_name"
TRACE_ID_PYROSCOPE_TAG_KEY = "trace_id"

__all__ = ["PROFILE_ID_PYROSCOPE_TAG_KEY", "PROFILE_ID_SPAN_ATTRIBUTE_KEY",
           "SPAN_NAME_PYROSCOPE_TAG_KEY", "TRACE_ID_PYROSCOPE_TAG_KEY",
           "PyroscopeSpanProcessor"]


class PyroscopeSpanProcessor(SpanProcessor):
    """See `spanprof.otel.SpanProcessor`; without arguments it labels local
    roots, with their names, and adds no URL."""
