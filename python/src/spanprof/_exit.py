"""Flushes before Python's own exit, `os._exit` (with which every child of
multiprocessing exits) and exec. C's exit handlers run too late or not at all for
these. Each flush takes at most two seconds."""
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
# `os.execvp` and some programs call execve for each directory of PATH in turn.
# Attempts that follow each other within this time share one deadline.
_SAME_END_S = 1.0
_installed = False
_deadline = 0.0
_tried = -_SAME_END_S


def _at_exit() -> None:
    """Ends the session while threads can still acquire the GIL. A library thread that
    requested it later would never return."""
    native.end(END_MS, True)


def _flush() -> None:
    """Flush by the deadline of a preceding attempt that failed, or else by a new
    deadline."""
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

    flushed.__module__ = "os"  # pickle looks there; the original has "posix"
    return flushed


def install() -> None:
    """Install the hooks once per process; a forked child inherits them. Before an exec,
    they flush the session but do not stop it: if the exec fails, the program continues."""
    global _installed
    if _installed:
        return
    _installed = True
    atexit.register(_at_exit)
    for name in ("_exit", "execv", "execve"):
        setattr(os, name, _after_flush(getattr(os, name)))
