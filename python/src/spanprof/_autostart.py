"""Starts that no line of the program asks for: by the environment, from
spanprof.pth as an interpreter comes up (also those that multiprocessing's spawn
and forkserver bring up), and by opentelemetry-instrument.

A .pth and not a sitecustomize: there is one sitecustomize per interpreter, and
opentelemetry-instrument, distributions and users have theirs."""
from __future__ import annotations

import os

from . import _logging, _session
from ._binding import Error, subinterpreter

VARIABLE = "SPANPROF_AUTOSTART"
_DESTINATIONS = ("PYROSCOPE_SERVER_ADDRESS", "PYROSCOPE_OUTPUT_DIRECTORY")


def start() -> None:
    """Profile this interpreter by the options in its environment, once: two
    directories of packages may each have a spanprof.pth. An interpreter beside
    the main one is what the program made of its process: nothing is to be said
    there."""
    if subinterpreter or _session.running():
        return
    try:
        _session.start()
    except Error as error:
        _logging.last_resort(f"not profiled: {error}")
        os._exit(1)


def opentelemetry() -> None:
    """Called by opentelemetry-instrument once the SDK is configured. Profiles
    where the environment says where to; every span gets its profile."""
    if not any(os.environ.get(name) for name in _DESTINATIONS):
        return
    if not (_session.running() or _session.start()):
        return
    from opentelemetry import trace

    from .otel import SpanProcessor

    add = getattr(trace.get_tracer_provider(), "add_span_processor", None)
    if add:
        add(SpanProcessor())
