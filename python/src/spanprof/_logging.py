"""The lines of the library as records of the logger "spanprof"."""
from __future__ import annotations

import logging

logger = logging.getLogger("spanprof")

# By spanprof_log_level: debug, info, warn, error.
_LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR)
_said: set[str] = set()


def receive(level: int, text: str) -> None:
    """Log one line of the library; any thread."""
    logger.log(_LEVELS[level], "%s", text)


def say_once(text: str, level: int = logging.WARNING) -> None:
    """Log a sentence the first time this process has reason to."""
    if text not in _said:
        _said.add(text)
        logger.log(level, "%s", text)
