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

# The levels of `logging`. This module must not import it before the program does: the
# first thread that does becomes the main thread of `threading` (up to CPython 3.12).
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
    """Write text to stderr, bypassing the buffer of Python's stream: bytes that it
    cannot write stay in the buffer, and the interpreter then exits with status 120."""
    stream: Any = sys.stderr
    try:
        if stream is not sys.__stderr__:
            stream.write(text)
            stream.flush()
            return
        stream.flush()  # the text of the program comes first
        remaining = text.encode(stream.encoding, errors="backslashreplace")
        while remaining:
            remaining = remaining[os.write(stream.fileno(), remaining):]
    except Exception:
        pass


def _logger() -> Any:
    """Return the logger, or None if there is none yet, for example while `logging` is
    being imported."""
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


def log_once(text: str, level: int = WARNING) -> None:
    """Log a sentence once per process."""
    if text not in _logged:
        _logged.add(text)
        log(level, text)
