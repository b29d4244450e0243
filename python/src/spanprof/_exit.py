"""The ends of a process that no exit handler of C sees in time: Python's own
exit, `os._exit` (the end of every child of multiprocessing) and exec. Each
hands on what there is, within two seconds."""
from __future__ import annotations

import atexit
import functools
import os
from collections.abc import Callable
from typing import Any

from ._binding import native

END_MS = 2000
_installed = False


def _at_exit() -> None:
    """While threads may still take the GIL: later, one that asks for it on
    behalf of the library would not come back."""
    native.end(END_MS, True)


def _after_flush(end: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(end)
    def flushed(*args: Any, **keywords: Any) -> Any:
        native.end(END_MS, False)
        return end(*args, **keywords)

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
