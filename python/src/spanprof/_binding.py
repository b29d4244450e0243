"""Loads the compiled extension spanprof._native. `native` is the extension, or None;
`load_error` is the reason if it cannot be loaded."""
from __future__ import annotations

import os
import sys

__all__ = ("Error", "load_error", "native", "subinterpreter")

load_error: str | None = None
# Whether this interpreter is not the main interpreter of its process.
subinterpreter = False


def _skipped() -> str | None:
    """Return why the installation did not compile the extension, from
    skipped_reason.txt, or None if there is no such file."""
    note = os.path.join(os.path.dirname(__file__), "skipped_reason.txt")
    if not os.path.isfile(note):
        return None
    with open(note, encoding="utf-8") as file:
        return file.read().strip()


try:
    # In free-threaded Python, loading the extension would enable the GIL for the whole
    # process.
    if "t" in sys.abiflags:
        raise ImportError("free-threaded Python is not supported")
    from . import _native as native
    from ._native import Error
except (ImportError, NotImplementedError) as error:
    native = None  # type: ignore[assignment]
    subinterpreter = isinstance(error, NotImplementedError)
    load_error = (str(error) if subinterpreter else
                  _skipped() or f"spanprof._native does not load: {error}")

    class Error(RuntimeError):  # type: ignore[no-redef]
        """Raised if profiling cannot start and SPANPROF_REQUIRED=1 is set."""
