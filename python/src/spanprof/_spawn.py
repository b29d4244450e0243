"""Profiles children that multiprocessing and similar libraries start by the methods
spawn and forkserver. These children are new interpreters, which inherit no session. The
parent passes its options to them, so that each child starts a session with the same
options."""
from __future__ import annotations

import os

from . import _lazy
from ._binding import native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The source that the child executes. The child may be an interpreter without spanprof
# (set_executable), and it has not yet set its sys.path to that of the parent.
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
# Modules that have a function `get_preparation_data`. Workers of joblib use loky,
# workers of Celery use billiard, and workers of pathos use multiprocess.
_MODULES = ("multiprocessing.spawn", "loky.backend.spawn", "joblib.externals.loky.backend.spawn",
            "billiard.spawn", "multiprocess.spawn")
_installed = False


class _Start:
    """When an object of this class is unpickled, the child starts profiling. The
    unpickled value is None."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, (_SOURCE, {"root": _ROOT, "given": self.given})


def _follow(module: Any) -> None:
    """Add spanprof's options to the result of `get_preparation_data`. The child
    unpickles this result before it imports modules of the program, and ignores unknown
    keys (multiprocessing/spawn.py, CPython 3.4 to 3.15; the other modules are copies of
    this one)."""
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
