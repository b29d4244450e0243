"""The lines of the library as records of the logger "spanprof"."""
from __future__ import annotations

import sys

# Those of `logging`, which is not imported before the program has done so: the
# first thread that does becomes `threading`'s main thread (up to CPython 3.12).
DEBUG, INFO, WARNING, ERROR = 10, 20, 30, 40

# By spanprof_log_level: debug, info, warn, error.
_LEVELS = (DEBUG, INFO, WARNING, ERROR)
_said: set[str] = set()


def log(level: int, text: str) -> None:
    """Log a sentence; any thread. Before the program has imported `logging` it
    goes where that has it go as long as nothing is set up."""
    logging = sys.modules.get("logging")
    get_logger = getattr(logging, "getLogger", None)  # not in one half imported
    if get_logger is not None:
        get_logger("spanprof").log(level, "%s", text)
    elif level >= WARNING and sys.stderr is not None:
        print(text, file=sys.stderr, flush=True)


def receive(level: int, text: str) -> None:
    """Log one line of the library; any thread."""
    log(_LEVELS[level], text)


def say_once(text: str, level: int = WARNING) -> None:
    """Log a sentence the first time this process has reason to."""
    if text not in _said:
        _said.add(text)
        log(level, text)
