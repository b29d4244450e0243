"""Passes the library's log lines to the logger "spanprof", or to stderr. A line that
can be passed to neither is dropped: it must not cause an exception in the program or
change its exit status."""
from __future__ import annotations

import os
import sys

from ._binding import native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The levels of `logging`, which this module must not import before the program does:
# `logging` imports `threading`, and up to CPython 3.12 the thread that imports
# `threading` first counts as its main thread.
DEBUG, INFO, WARNING, ERROR = 10, 20, 30, 40

# Indexed by spanprof_log_level: debug, info, warn, error.
_LEVELS = (DEBUG, INFO, WARNING, ERROR)
_logged: set[str] = set()


def last_resort(text: str) -> None:
    """Write a line to stderr, prefixed by "spanprof: "."""
    if native is not None and sys.stderr is sys.__stderr__:
        native.stderr_line(text.encode(errors="backslashreplace"))
    else:
        write_stderr(f"spanprof: {text}\n")


def write_stderr(text: str) -> None:
    """Write text to stderr without the buffer of Python's stream. Bytes that the stream
    cannot write would stay in its buffer, and the interpreter would exit with status
    120."""
    stream: Any = sys.stderr
    try:
        if stream is not sys.__stderr__:
            stream.write(text)
            stream.flush()
            return
        stream.flush()  # first write what the program has in the buffer
        remaining = text.encode(stream.encoding, errors="backslashreplace")
        while remaining:
            remaining = remaining[os.write(stream.fileno(), remaining):]
    except Exception:
        pass


def _logger() -> Any:
    """Return the logger "spanprof", or None if `logging` is not imported, or is just
    being imported."""
    get_logger = getattr(sys.modules.get("logging"), "getLogger", None)
    return get_logger and get_logger("spanprof")


def _handled(logger: Any) -> bool:
    """Whether the program has configured logging. If it has not, `logging` would write
    the lines to stderr without the prefix "spanprof: "."""
    logging = sys.modules["logging"]
    return logger.hasHandlers() or logging.lastResort is not getattr(logging, "_defaultLastResort", None)


def log(level: int, text: str) -> None:
    """Log a sentence. If the program has not configured logging, write warnings and
    errors to stderr. May be called on any thread."""
    failure = ""
    try:
        logger = _logger()
        if logger and (_handled(logger) or not logger.isEnabledFor(level)):
            logger.log(level, "%s", text)
            return
    except Exception as error:  # a handler or filter of the program raised it
        failure = f" (logging it raised {type(error).__name__})"
    if level >= WARNING:
        last_resort(text + failure)


def receive(level: int, text: str) -> None:
    """Log one line of the library. May be called on any thread."""
    log(_LEVELS[level], text)


def log_once(text: str, level: int = WARNING) -> None:
    """Log a sentence once per process."""
    if text not in _logged:
        _logged.add(text)
        log(level, text)
