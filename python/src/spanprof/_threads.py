"""Profiles threads that Python starts from their first instruction. The library's scan
for threads would miss short-lived ones."""
from __future__ import annotations

from . import _lazy
from ._binding import Error, native

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from typing import Any

_installed = False
_inherited = False

# Attribute of a thread that was started by code of a recording.
_MARK = "_spanprof_mark"


def _follow(module: Any) -> None:
    """Register each new thread in `_set_native_id`. The thread itself calls this
    method, as does the main thread of each child of multiprocessing (CPython 3.8 to
    3.15), and it leaves no frame of ours on the stack. Without this method, the
    library finds threads within 200 ms."""
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
        mark = self.__dict__.pop(_MARK, 0)
        if not mark:
            return
        # CPython 3.14 and later run the thread's code in this context.
        context = getattr(self, "_context", None)
        try:
            if context is None:
                native.mark_set(mark)
            else:
                context.run(native.mark_set, mark)
        except RuntimeError:
            pass  # the context is in use: the thread itself cannot run in it either

    kind._set_native_id = _set_native_id


def install() -> None:
    """Install the hook once per process; a forked child inherits it."""
    global _installed
    if not _installed:
        _installed = True
        _lazy.when_imported("threading", _follow)


def _inherit_in_threads(module: Any) -> None:
    original = module.Thread.start

    @_lazy.wraps(original)
    def start(self: threading.Thread) -> None:
        mark = native.mark_get()
        if mark:
            setattr(self, _MARK, mark)
        original(self)

    module.Thread.start = start


def _inherit_in_jobs(module: Any) -> None:
    """Add each job to the recordings of the code that submits it. A thread that the
    submit starts is not added, because it also runs other jobs."""
    original = module.ThreadPoolExecutor.submit

    @_lazy.wraps(original)
    def submit(self: Any, function: Any, /, *args: Any, **keywords: Any) -> Any:
        mark = native.mark_get()
        if not mark:
            return original(self, function, *args, **keywords)
        native.mark_set(0)
        try:
            return original(self, native.mark_call(mark, function), *args, **keywords)
        finally:
            native.mark_set(mark)

    module.ThreadPoolExecutor.submit = submit


def inherit_marks() -> None:
    """Called at the start of each profile; installs the hooks once per process."""
    global _inherited
    if not _inherited:
        _inherited = True
        _lazy.when_imported("threading", _inherit_in_threads)
        _lazy.when_imported("concurrent.futures.thread", _inherit_in_jobs)
