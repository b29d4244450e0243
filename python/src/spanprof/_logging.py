"""Passes the library's log lines to the logger "spanprof". A line that cannot be
logged or written is dropped: it must not cause an exception or change the exit
status of the program."""
from __future__ import annotations

import os
import sys

from ._binding import native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Those of `logging`, which is not imported before the program has done so: the
# first thread that does becomes `threading`'s main thread (up to CPython 3.12).
DEBUG, INFO, WARNING, ERROR = 10, 20, 30, 40

# By spanprof_log_level: debug, info, warn, error.
_LEVELS = (DEBUG, INFO, WARNING, ERROR)
_said: set[str] = set()


def last_resort(text: str) -> None:
    """Write a line to stderr, prefixed by "spanprof: "."""
    if native is not None and sys.stderr is sys.__stderr__:
        native.stderr_line(text.encode(errors="backslashreplace"))
    else:
        write_stderr(f"spanprof: {text}\n")


def write_stderr(text: str) -> None:
    """Write text to stderr, past the buffer of Python's own stream: bytes that it
    cannot write stay in there, and the interpreter then exits with status 120."""
    stream: Any = sys.stderr
    try:
        if stream is not sys.__stderr__:
            stream.write(text)
            stream.flush()
            return
        stream.flush()  # the text of the program comes first
        rest = text.encode(stream.encoding, errors="backslashreplace")
        while rest:
            rest = rest[os.write(stream.fileno(), rest):]
    except Exception:
        pass


def _logger() -> Any:
    """The logger, or None if there is none yet, as while `logging` is being
    imported."""
    get_logger = getattr(sys.modules.get("logging"), "getLogger", None)
    return get_logger and get_logger("spanprof")


def _handled(logger: Any) -> bool:
    """Whether the program has configured logging. If not, `logging` would write the
    lines to stderr without a prefix."""
    logging = sys.modules["logging"]
    return logger.hasHandlers() or logging.lastResort is not getattr(logging, "_defaultLastResort", None)


def log(level: int, text: str) -> None:
    """Log a sentence; any thread. If logging is not configured, warnings go to
    stderr."""
    failure = ""
    try:
        logger = _logger()
        if logger and (_handled(logger) or not logger.isEnabledFor(level)):
            logger.log(level, "%s", text)
            return
    except Exception as error:  # raised by the program's handler or filter
        failure = f" (logging it raised {type(error).__name__})"
    if level >= WARNING:
        last_resort(text + failure)


def receive(level: int, text: str) -> None:
    """Log one line of the library; any thread."""
    log(_LEVELS[level], text)


def say_once(text: str, level: int = WARNING) -> None:
    """Log a sentence the first time this process has reason to."""
    if text not in _said:
        _said.add(text)
        log(level, text)
