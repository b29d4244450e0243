"""SIGTERM with its default action flushes first. The library's own
handler does that while the main thread is in C code for long, too; below it is
one of Python's, which keeps the main thread from running on meanwhile.

The program sees neither: to `signal.signal` and `signal.getsignal` ours is
SIG_DFL, and where it sets SIG_DFL (uvicorn gives back what it found, and raises
the signal again) ours is set."""
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
    """As the default action, but for what was sampled. What it does to the first
    process of a container is nothing."""
    if native.sigterm_flush():
        _signal.signal(number, _signal.SIG_DFL)
        os.kill(os.getpid(), number)


def arm() -> None:
    """Where a session runs that wants it, and nobody handles the signal. Only the
    main thread may set a handler of Python's."""
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
    """Once per process; a forked child has it."""
    global _installed
    if not _installed:
        _installed = True
        _lazy.when_imported("signal", _follow)
