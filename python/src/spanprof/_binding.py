"""The compiled part, or the reason why there is none."""
from __future__ import annotations

import pathlib
from types import ModuleType

native: ModuleType | None
load_error: str | None

try:
    from . import _native
except ImportError as error:
    native = None
    # What the installation left where it could not compile the extension.
    _note = pathlib.Path(__file__).with_name("skipped_reason.txt")
    load_error = (_note.read_text(encoding="utf-8").strip() if _note.is_file()
                  else f"spanprof._native does not load: {error}")

    class Error(RuntimeError):
        """Why profiling did not start; raised only with SPANPROF_REQUIRED=1."""
else:
    native = _native
    load_error = None
    Error = _native.Error
