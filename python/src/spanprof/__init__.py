"""Span-aware continuous CPU profiling.

    import spanprof

    spanprof.start(application_name="checkout",
                   server_address="http://localhost:4040")

From then on every thread of the process, and of every process it forks, is
profiled until it ends. Importing does no work and starts no thread.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _logging, _neighbours
from ._binding import Error
from ._label import label
from ._options import Options
from ._session import (available, flush, running, start, stats, stop,
                       unavailable_reason)

if TYPE_CHECKING:
    from .otel import SpanProcessor

__all__ = ["Error", "Options", "SpanProcessor", "available", "flush", "label",
           "running", "start", "stats", "stop", "unavailable_reason"]

if _neighbour := _neighbours.sentence():
    _logging.say_once(_neighbour)


def __getattr__(name: str) -> Any:
    """`SpanProcessor` on first use: it needs opentelemetry-sdk, which not every
    program has."""
    if name == "SpanProcessor":
        from .otel import SpanProcessor

        return SpanProcessor
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
