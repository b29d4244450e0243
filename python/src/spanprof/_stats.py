"""The counters, apart from the session: their hint needs `typing`, which a start
by the environment does without."""
from __future__ import annotations

from typing import Any

from ._binding import native


def stats() -> dict[str, Any]:
    """Return the counters of the running session, or of the last one.

    Returns:
        Counts, bytes and ns by name; `handler_histogram` is a list. Empty where
        there is no compiled part.
    """
    counters: dict[str, Any] = {} if native is None else native.stats()
    return counters
