"""Starts profiling without a call by the program: by the environment, from spanprof.pth
at the start of an interpreter (also of those that multiprocessing's spawn and
forkserver start), and by opentelemetry-instrument.

A .pth file is used because each interpreter runs only one sitecustomize, and
opentelemetry-instrument, distributions and users have their own.
"""
from __future__ import annotations

import os

from . import _logging, _session
from ._binding import Error, subinterpreter

VARIABLE = "SPANPROF_AUTOSTART"
_DESTINATIONS = ("PYROSCOPE_SERVER_ADDRESS", "PYROSCOPE_OUTPUT_DIRECTORY")


def start() -> None:
    """Profile this interpreter with the options in its environment, once: two
    directories of packages may each have a spanprof.pth. Subinterpreters are not
    profiled, and no message is logged for them, because the program created them
    itself."""
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
