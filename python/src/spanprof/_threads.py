"""Profiles each thread that Python starts, from its first instruction on. Without this
module, the library finds new threads by its scan of the process every 200 ms, which
misses short threads."""
from __future__ import annotations

from . import _lazy
from ._binding import Error, native

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from typing import Any

_installed = False
_inherited = False

# Attribute with the number (mark) of the recording whose code started the thread.
_MARK = "_spanprof_mark"


def _follow(module: Any) -> None:
    """Register each new thread in the method `_set_native_id` of `threading.Thread`.
    Each new thread calls this method itself, and so does the main thread of each child
    of multiprocessing (CPython 3.8 to 3.15). A hook around `run` would leave a frame of
    spanprof on all stacks of the thread. If there is no such method, the library's scan
    finds the thread."""
    kind: Any = getattr(module, "Thread", None)
    original: Any = getattr(kind, "_set_native_id", None)
    if original is None:
        return

    def _set_native_id(self: threading.Thread) -> None:
        original(self)
        try:
            native.thread_register()
        except Error:
            pass  # counted in stats()["threads_unprofiled"]; the library's scan tries again
        mark = self.__dict__.pop(_MARK, 0)
        if not mark:
            return
        # From CPython 3.14 on, the code of the thread runs in the context `_context`.
        context = getattr(self, "_context", None)
        try:
            if context is None:
                native.mark_set(mark)
            else:
                context.run(native.mark_set, mark)
        except RuntimeError:
            pass  # another thread runs in the context, so this thread will fail, too

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
    """Add each job of a ThreadPoolExecutor to the recording of the code that submits
    it. A worker thread that `submit` starts is not added, because it also runs other
    jobs."""
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
    """Install, once per process, the hooks that add threads and jobs to recordings.
    Called at the start of each `spanprof.profile`."""
    global _inherited
    if not _inherited:
        _inherited = True
        _lazy.when_imported("threading", _inherit_in_threads)
        _lazy.when_imported("concurrent.futures.thread", _inherit_in_jobs)
