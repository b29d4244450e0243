"""The compiled part, or the reason why there is none."""
from __future__ import annotations

import pathlib

__all__ = ("Error", "load_error", "native")

load_error: str | None = None

try:
    from . import _native as native
    from ._native import Error
except ImportError as error:
    native = None  # type: ignore[assignment]
    # What the installation left where it could not compile the extension.
    _note = pathlib.Path(__file__).with_name("skipped_reason.txt")
    load_error = (_note.read_text(encoding="utf-8").strip() if _note.is_file()
                  else f"spanprof._native does not load: {error}")

    class Error(RuntimeError):  # type: ignore[no-redef]
        """Why profiling did not start; raised only with SPANPROF_REQUIRED=1."""
