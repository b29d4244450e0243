"""`PyroscopeSpanProcessor`, under the module name of pyroscope-otel."""
from __future__ import annotations

from typing import Any

from spanprof.otel import SpanProcessor

PROFILE_ID_SPAN_ATTRIBUTE_KEY = "pyroscope.profile.id"
PROFILE_ID_PYROSCOPE_TAG_KEY = "span_id"
SPAN_NAME_PYROSCOPE_TAG_KEY = "span_name"
TRACE_ID_PYROSCOPE_TAG_KEY = "trace_id"

__all__ = ["PROFILE_ID_PYROSCOPE_TAG_KEY", "PROFILE_ID_SPAN_ATTRIBUTE_KEY",
           "SPAN_NAME_PYROSCOPE_TAG_KEY", "TRACE_ID_PYROSCOPE_TAG_KEY",
           "PyroscopeSpanProcessor"]


class PyroscopeSpanProcessor(SpanProcessor):
    """Like `spanprof.otel.SpanProcessor`, with other defaults: it adds no URL, and the
    label with the span's id is `span_id`. Without arguments, it labels local root spans
    with their ids and names."""

    def __init__(self, *, span_id_label: bool = True, add_url: bool = False,
                 **options: Any) -> None:
        super().__init__(span_id_label=span_id_label, add_url=add_url, **options)
