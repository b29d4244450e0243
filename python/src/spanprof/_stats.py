"""`spanprof.stats`. It is not in _session.py, because its type hint needs `typing`,
which must not be imported when environment variables start profiling."""
from __future__ import annotations

from typing import Any

from ._binding import native


def stats() -> dict[str, Any]:
    """Return the counters of the running session, or of the last one.

    Returns:
        Counts, bytes and nanoseconds by name. `handler_histogram` is a list. Empty
        if the compiled extension is missing.
    """
    counters: dict[str, Any] = {} if native is None else native.stats()
    return counters
