"""Flushes at SIGTERM if the program has left its default action. Two handlers do this.
The library's C handler also works while the main thread is in C code for a long
time. It calls a handler of Python, which stops the main thread while the flush runs.

The program sees neither of them: `signal.signal` and `signal.getsignal` return SIG_DFL
instead of ours, and if the program sets SIG_DFL, ours is set again. uvicorn restores
the handler that it found and raises the signal again.
"""
from __future__ import annotations

import os

from . import _lazy
from ._binding import native

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from typing import Any
else:
    import _signal

_installed = False


def _end(number: int, _frame: object) -> None:
    """Exit as with the default action, after a flush. For the first process of a
    container, the default action does nothing."""
    if native.sigterm_flush():
        _signal.signal(number, _signal.SIG_DFL)
        os.kill(os.getpid(), number)


def arm() -> None:
    """Install the handlers if the session's options require it and the signal has its
    default action. Only the main thread may set a handler of Python."""
    if not native.sigterm_arm():
        return
    try:
        _signal.signal(_signal.SIGTERM, _end)
    except ValueError:
        return
    native.sigterm_cover()


def _shown(module: Any, handler: Any) -> Any:
    return module.SIG_DFL if handler is _end else handler


def _follow(module: Any) -> None:
    set_original, get_original = module.signal, module.getsignal

    @_lazy.wraps(set_original)
    def signal(signalnum: Any, handler: Any) -> Any:
        before = _shown(module, set_original(signalnum, handler))
        if signalnum == _signal.SIGTERM and handler == _signal.SIG_DFL:
            arm()
        return before

    @_lazy.wraps(get_original)
    def getsignal(signalnum: Any) -> Any:
        return _shown(module, get_original(signalnum))

    module.signal, module.getsignal = signal, getsignal


def install() -> None:
    """Install the hooks once per process; a forked child inherits them."""
    global _installed
    if not _installed:
        _installed = True
        _lazy.when_imported("signal", _follow)
