"""Delivers samples before the interpreter exits, before `os._exit` (by which every
child of multiprocessing exits) and before exec. C's exit handlers, where the library
delivers them in other programs, run too late or not at all in these cases. Each
delivery takes at most two seconds."""
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
# `os.execvp` and some programs try execve for each directory of PATH. Attempts within
# this time of each other share one deadline, so that all of them together take at most
# two seconds.
_SAME_END_S = 1.0
_installed = False
_deadline = 0.0
_tried = -_SAME_END_S


def _at_exit() -> None:
    """Stop the session while threads can still acquire the GIL. A thread of the library
    that requests the GIL after the finalization never returns."""
    native.end(END_MS, True)


def _flush() -> None:
    """Flush, at the latest until the deadline. If an exec failed just before, its
    deadline still applies; otherwise set a new one."""
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

    flushed.__module__ = "os"  # pickle imports the function from os; the original names "posix"
    return flushed


def install() -> None:
    """Install the hooks once per process; a forked child inherits them. The hooks of
    `os._exit` and exec flush the session but do not stop it, because an exec may fail,
    and the program then continues."""
    global _installed
    if _installed:
        return
    _installed = True
    atexit.register(_at_exit)
    for name in ("_exit", "execv", "execve"):
        setattr(os, name, _after_flush(getattr(os, name)))
