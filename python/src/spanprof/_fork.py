"""CPython 3.12 and later warn about a fork in a process with several threads
(https://docs.python.org/3/library/os.html#os.fork). They also count the threads of this
library, which handles a fork itself. A program without threads of its own must not get
this warning."""
from __future__ import annotations

import os
import sys

from . import _lazy
from ._binding import native

_installed = False


def install() -> None:
    """Install the hook once per process. It only suppresses the warning: the library
    handles a fork without it."""
    global _installed
    if _installed or sys.version_info < (3, 12):
        return
    _installed = True
    original = os.fork
    # Modules are cleared before the last objects are freed, and these may fork.
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

    fork.__module__ = "os"  # as in _exit.py
    os.fork = fork
