"""CPython 3.12 and later warn at a fork of a process that has threads
(https://docs.python.org/3/library/os.html#os.fork), and count ours, which take
no part in it. A program that has none of its own is not to be warned."""
from __future__ import annotations

import os
import sys

from . import _lazy
from ._binding import native

_installed = False


def install() -> None:
    """Once per process. The children's profiling needs nothing of this: the
    library follows a fork by itself."""
    global _installed
    if _installed or sys.version_info < (3, 12):
        return
    _installed = True
    original = os.fork
    # Modules are emptied before the last objects are, which may fork.
    finalizing = sys.is_finalizing

    @_lazy.wraps(original)
    def fork() -> int:
        if finalizing() or not native.only_own_threads():
            return original()
        import warnings

        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*multi-threaded, use of fork",
                                    DeprecationWarning)
            return original()

    fork.__module__ = "os"  # as in _exit
    os.fork = fork
