"""The compiled part, or the reason why there is none."""
from __future__ import annotations

from types import ModuleType

native: ModuleType | None
load_error: str | None

try:
    from . import _native
except ImportError as error:
    native = None
    load_error = f"spanprof._native does not load: {error}"

    class Error(RuntimeError):
        """Why profiling did not start; raised only with SPANPROF_REQUIRED=1."""
else:
    native = _native
    load_error = None
    Error = _native.Error
