"""Threads that Python starts are profiled from their first instruction: those
that live shorter than the library's scan for threads would be missed."""
from __future__ import annotations

import sys
import threading
from typing import Any

from ._binding import Error, native

_installed = False


def watch_terminate() -> None:
    """In a child of multiprocessing: a pool ends its workers by SIGTERM, with
    all they did since their last upload."""
    process = sys.modules.get("multiprocessing.process")
    if process is not None and process.parent_process() is not None:
        native.hand_on_at_sigterm()


def install() -> None:
    """Once per process; a forked child has it. `_set_native_id` is called by
    each new thread on itself, and by multiprocessing on the main thread of each
    child (CPython 3.8 to 3.15), and leaves no frame of ours on its stack.
    Without it threads are found within 200 ms."""
    global _installed
    original: Any = getattr(threading.Thread, "_set_native_id", None)
    if _installed or original is None:
        return
    _installed = True

    def _set_native_id(self: threading.Thread) -> None:
        original(self)
        try:
            native._swig.thread_register()
        except Error:
            pass  # counted in stats()["threads_unprofiled"]; the scan tries again
        if self is threading.main_thread() and native.running():
            watch_terminate()

    threading.Thread._set_native_id = _set_native_id  # type: ignore[attr-defined]
