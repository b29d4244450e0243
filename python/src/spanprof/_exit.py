"""The ends of a process that no exit handler of C sees in time: Python's own
exit, `os._exit` (the end of every child of multiprocessing) and exec. Each
flushes first, within two seconds."""
from __future__ import annotations

import atexit
import os
import time

from . import _lazy
from ._binding import native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

END_MS = 2000
# `os.execvp` tries one directory of PATH after the other, and so do programs:
# attempts that follow each other within this time have one deadline.
_SAME_END_S = 1.0
_installed = False
_deadline = 0.0
_tried = -_SAME_END_S


def _at_exit() -> None:
    """While threads may still take the GIL: later, one that asks for it on
    behalf of the library would not come back."""
    native.end(END_MS, True)


def _flush() -> None:
    """By the deadline of an end that was tried just now and failed, else by one
    of its own."""
    global _deadline, _tried
    now = time.monotonic()
    if now - _tried > _SAME_END_S:
        _deadline = now + END_MS / 1000
    if _deadline > now:
        native.end(int((_deadline - now) * 1000), False)
    _tried = time.monotonic()


def _after_flush(end: Callable[..., Any]) -> Callable[..., Any]:
    @_lazy.wraps(end)
    def flushed(*args: Any, **keywords: Any) -> Any:
        _flush()
        return end(*args, **keywords)

    flushed.__module__ = "os"  # where pickle looks: the original says posix
    return flushed


def install() -> None:
    """Once per process; a forked child has it. Exec may fail and the program go
    on, so it is not the end of the session."""
    global _installed
    if _installed:
        return
    _installed = True
    atexit.register(_at_exit)
    for name in ("_exit", "execv", "execve"):
        setattr(os, name, _after_flush(getattr(os, name)))
