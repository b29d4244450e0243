"""Children by the methods spawn and forkserver of multiprocessing and similar
libraries are new interpreters, which have no session. Their parent passes its own
options to them, so that they start to profile themselves."""
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
# Each has `get_preparation_data`. joblib's workers use loky, Celery's use billiard,
# and those of pathos use multiprocess.
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
    """The child unpickles the result of `get_preparation_data` before it imports
    modules of the program, and ignores unknown keys (multiprocessing/spawn.py,
    CPython 3.4 to 3.15; the other modules are copies of it)."""
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
