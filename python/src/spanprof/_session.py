"""Start and end of profiling. No failure here reaches the application."""
from __future__ import annotations

import os

from . import _exit, _fork, _logging, _reloader, _sigterm, _spawn, _threads
from ._binding import Error, load_error, native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from typing_extensions import Unpack

    from ._options import Options

# What the session was started with, as the binding takes it, but for what
# cannot be told to another interpreter.
given: dict[str, Any] = {}
# Whether it was told so by the process that started this one.
_inherited = False


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
    goes_on = native is not None and native.running()
    what = "profiling goes on as before" if goes_on else "not profiled"
    _logging.log(_logging.ERROR, f"{what}: {sentence}")
    return False


def _native_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Their module brings in others, for which a start by the environment has no
    need."""
    if not options:
        return {}
    from ._options import native_options

    return native_options(options)


def _start(options: dict[str, Any]) -> bool:
    global given
    for part in (_exit, _fork, _threads, _spawn, _sigterm):
        part.install()
    native.log_to(_logging.receive)
    started: bool = native.start(options)
    if started:
        given = {name: value for name, value in options.items() if name != "on_profile"}
        _sigterm.arm()
    return started


def inherit(options: dict[str, Any]) -> None:
    """Start as the process that starts this one was. The environment may have
    done so; a program that does it again gets no other session."""
    global _inherited
    if native is None:
        _refuse(load_error or "")
    elif options or not native.running():
        try:
            _inherited = _start(options)
        except Error as error:
            _refuse(str(error))


def start(**options: Unpack[Options]) -> bool:
    """Profile this process and those it forks, until `stop` or its end.

    A running session is stopped first, so that options can be changed, but only
    once the new ones are known to be good. A wrong option is one record of the
    logger "spanprof", and the program goes on as it was: unprofiled, or with the
    session that ran.

    Args:
        **options: those of `Options`; what is not given is taken from the
            environment.

    Returns:
        Whether profiling runs with these options.

    Raises:
        Error: it does not, and SPANPROF_REQUIRED=1.
    """
    if native is None:
        return _refuse(load_error or "")
    if _reloader.is_parent():
        _logging.say_once("the autoreloader is not profiled, its child is", _logging.INFO)
        return False
    try:
        wanted = _native_options(options)
        if _inherited and wanted == given and native.running():
            return True
        return _start(wanted)
    except Error as error:
        return _refuse(str(error))


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
    """Not a number is no time."""
    return int(min(seconds * 1000, 2**32 - 1)) if seconds > 0 else 0
