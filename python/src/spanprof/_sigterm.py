"""Flushes at SIGTERM if the program has left this signal its default action. There are
two handlers. The library's C handler works even while the main thread is in C code for
a long time. It then calls a Python handler, which keeps the main thread from running on
during the flush.

The program sees neither of the handlers: `signal.signal` and `signal.getsignal` return
SIG_DFL instead of the Python handler. If the program sets SIG_DFL, both handlers are
installed again. uvicorn needs this: it sets its own handler, and at its end it restores
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
    """The Python handler: flush, then end the process by the default action, if the
    process must exit. It must not if it is the first process of a container, where the
    default action does nothing."""
    if native.sigterm_flush():
        _signal.signal(number, _signal.SIG_DFL)
        os.kill(os.getpid(), number)


def arm() -> None:
    """Install the handlers if the session's options require them and SIGTERM has its
    default action. On a thread other than the main thread, install only the C handler,
    because Python refuses to set a handler there."""
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
