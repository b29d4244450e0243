"""Threads that Python starts are profiled from their first instruction: those
that live shorter than the library's scan for threads would be missed."""
from __future__ import annotations

from . import _lazy
from ._binding import Error, native

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from typing import Any

_installed = False


def _follow(module: Any) -> None:
    """`_set_native_id` is called by each new thread on itself, and by
    multiprocessing on the main thread of each child (CPython 3.8 to 3.15), and
    leaves no frame of ours on its stack. Without it threads are found within
    200 ms."""
    kind: Any = getattr(module, "Thread", None)
    original: Any = getattr(kind, "_set_native_id", None)
    if original is None:
        return

    def _set_native_id(self: threading.Thread) -> None:
        original(self)
        try:
            native.thread_register()
        except Error:
            pass  # counted in stats()["threads_unprofiled"]; the scan tries again

    kind._set_native_id = _set_native_id


def install() -> None:
    """Once per process; a forked child has it."""
    global _installed
    if not _installed:
        _installed = True
        _lazy.when_imported("threading", _follow)
