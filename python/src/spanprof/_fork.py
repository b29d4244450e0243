"""Prevents a wrong warning: CPython 3.12 and later warn about a fork in a process with
several threads (https://docs.python.org/3/library/os.html#os.fork). They also count the
threads of this library, but the library restarts these in the child. So a program that
has no other threads must not get the warning. This module also tells the C library when the
library may use Python in a forked child."""
from __future__ import annotations

import os
import sys

from . import _lazy
from ._binding import native

_installed = False


def install() -> None:
    """Install the hooks once per process. They suppress the warning, and tell the C library when
    CPython has reinitialized the GIL in a forked child. The C library handles the fork itself."""
    global _installed
    if _installed:
        return
    _installed = True
    os.register_at_fork(after_in_child=native.forked)
    if sys.version_info < (3, 12):
        return
    original = os.fork
    # A local variable, because a `__del__` may fork at the exit of the interpreter,
    # when the modules have already been cleared.
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

    fork.__module__ = "os"  # pickle imports the function from os
    os.fork = fork
