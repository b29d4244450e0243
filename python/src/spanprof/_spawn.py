"""The methods spawn and forkserver of multiprocessing and similar libraries start
children as new interpreters without a session. The parent passes its own options to
them, so that they start a session too."""
from __future__ import annotations

import os

from . import _lazy
from ._binding import native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Source for exec. The child may be an interpreter without spanprof (set_executable),
# and its sys.path is not yet the parent's.
_SOURCE = """
import sys
sys.path.append(root)
try:
    from spanprof import _session
except Exception:
    pass
else:
    _session.inherit(given)
"""
_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Modules that have `get_preparation_data`. joblib's workers use loky, Celery's use
# billiard, and those of pathos use multiprocess.
_MODULES = ("multiprocessing.spawn", "loky.backend.spawn", "joblib.externals.loky.backend.spawn",
            "billiard.spawn", "multiprocess.spawn")
_installed = False


class _Start:
    """Starts profiling when it is unpickled; the unpickled value is None."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, (_SOURCE, {"root": _ROOT, "given": self.given})


def _follow(module: Any) -> None:
    """Add our options to the result of `get_preparation_data`. The child unpickles it
    before it imports modules of the program, and ignores unknown keys
    (multiprocessing/spawn.py, CPython 3.4 to 3.15; the other modules are copies of
    it)."""
    original: Any = getattr(module, "get_preparation_data", None)
    if original is None:
        return

    @_lazy.wraps(original)
    def get_preparation_data(*args: Any, **keywords: Any) -> Any:
        from . import _session

        data = original(*args, **keywords)
        if native.running():
            data["spanprof"] = _Start(_session.given)
        return data

    module.get_preparation_data = get_preparation_data


def install() -> None:
    """Install the hooks once per process; a forked child inherits them."""
    global _installed
    if not _installed:
        _installed = True
        for name in _MODULES:
            _lazy.when_imported(name, _follow)
