"""Start and end of profiling. No failure here reaches the application."""
from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any

from . import _exit, _fork, _logging, _reloader, _threads
from ._binding import Error, load_error, native
from ._options import Options, native_options

if TYPE_CHECKING:
    from typing_extensions import Unpack


def required() -> bool:
    """Whether SPANPROF_REQUIRED=1: no start is an error of the application."""
    return os.environ.get("SPANPROF_REQUIRED", "") == "1"


def unavailable_reason() -> str | None:
    """Return in one sentence why this interpreter cannot be profiled, or None."""
    return load_error if native is None else native.unavailable_reason()


def available() -> bool:
    """Whether this interpreter can be profiled."""
    return unavailable_reason() is None


def _refuse(sentence: str) -> bool:
    if required():
        raise Error(sentence)
    _logging.logger.error("not profiled: %s", sentence)
    return False


def start(**options: Unpack[Options]) -> bool:
    """Profile this process and those it forks, until `stop` or its end.

    A running session is stopped first, so that options can be changed. A wrong
    option is one record of the logger "spanprof", and the program goes on
    unprofiled.

    Args:
        **options: those of `Options`; what is not given is taken from the
            environment.

    Returns:
        Whether profiling runs.

    Raises:
        Error: it does not, and SPANPROF_REQUIRED=1.
    """
    if native is None:
        return _refuse(load_error or "")
    if _reloader.is_parent():
        _logging.say_once("the autoreloader is not profiled, its child is", logging.INFO)
        return False
    try:
        given = native_options(options)
        _exit.install()
        _fork.install()
        _threads.install()
        native.log_to(_logging.receive)
        started: bool = native.start(given)
    except Error as error:
        return _refuse(str(error))
    if started:
        _threads.watch_terminate()
    return started


def flush(timeout: float = 2.0) -> bool:
    """Send what was sampled up to now; other threads run meanwhile.

    Args:
        timeout: seconds to wait at most.

    Returns:
        Whether all was handed on (sent, written or spooled) in time.
    """
    return native is not None and native.flush(_milliseconds(timeout))


def stop(timeout: float = 2.0) -> bool:
    """End profiling and send the rest; other threads run meanwhile.

    Args:
        timeout: seconds to wait at most; what is not sent by then is spooled
            where there is a spool, else lost and counted.

    Returns:
        Whether profiling ran and nothing was lost.
    """
    return native is not None and native.stop(_milliseconds(timeout))


def running() -> bool:
    """Whether this process is being profiled."""
    return native is not None and native.running()


def stats() -> dict[str, Any]:
    """Return the counters of the running session, or of the last one.

    Returns:
        Counts, bytes and ns by name; `handler_histogram` is a list. Empty where
        there is no compiled part.
    """
    counters: dict[str, Any] = {} if native is None else native._swig.stats()
    return counters


def _milliseconds(seconds: float) -> int:
    return min(max(int(seconds * 1000), 0), 2**32 - 1)
