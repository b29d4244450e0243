"""Starts profiling in programs that do not call `start`. `start` below is called by
spanprof.pth at the start of each interpreter (also of those that multiprocessing's
spawn and forkserver start) if environment variables require it. `opentelemetry` is
called by opentelemetry-instrument.

A .pth file is used because an interpreter runs only one sitecustomize, and
opentelemetry-instrument, distributions and users have their own sitecustomize.
"""
from __future__ import annotations

import os

from . import _logging, _session
from ._binding import Error, subinterpreter

VARIABLE = "SPANPROF_AUTOSTART"
_DESTINATIONS = ("PYROSCOPE_SERVER_ADDRESS", "PYROSCOPE_OUTPUT_DIRECTORY")


def start() -> None:
    """Profile this interpreter with the options in its environment. A second call does
    nothing: two directories of sys.path may have a spanprof.pth. Subinterpreters are
    not profiled. No message is logged about them, because the user did not ask to
    profile them."""
    if subinterpreter or _session.running():
        return
    try:
        _session.start()
    except Error as error:
        _logging.last_resort(f"not profiled: {error}")
        os._exit(1)


def opentelemetry() -> None:
    """Called by opentelemetry-instrument when the SDK is configured. Starts profiling
    if the environment names a destination, and adds the span processor."""
    if not any(os.environ.get(name) for name in _DESTINATIONS):
        return
    if not (_session.running() or _session.start()):
        return
    from opentelemetry import trace

    from .otel import SpanProcessor

    add = getattr(trace.get_tracer_provider(), "add_span_processor", None)
    if add:
        add(SpanProcessor())
