"""The children of multiprocessing's methods spawn and forkserver, and of the
libraries that are made after it, are new interpreters, which know what their
parent tells them. It tells them to profile themselves as it is profiled."""
from __future__ import annotations

import os

from . import _lazy
from ._binding import native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# For exec, in an interpreter that may have no spanprof (set_executable), before
# its sys.path becomes its parent's.
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
# Each has `get_preparation_data`: joblib's workers are loky's, Celery's Billiard's,
# those of pathos multiprocess's.
_MODULES = ("multiprocessing.spawn", "loky.backend.spawn", "joblib.externals.loky.backend.spawn",
            "billiard.spawn", "multiprocess.spawn")
_installed = False


class _Start:
    """Starts profiling where it is unpickled, and is None there."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, (_SOURCE, {"root": _ROOT, "given": self.given})


def _follow(module: Any) -> None:
    """What `get_preparation_data` returns is unpickled by the child before it
    imports anything of the program, and it takes of that what it knows by name
    (multiprocessing/spawn.py, CPython 3.4 to 3.15; the others are copies)."""
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
    """Once per process; a forked child has it."""
    global _installed
    if not _installed:
        _installed = True
        for name in _MODULES:
            _lazy.when_imported(name, _follow)
