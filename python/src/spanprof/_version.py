"""The version of spanprof: that of the compiled extension, or without it that of the
installed package."""
from __future__ import annotations

from ._binding import native


def _installed() -> str:
    from importlib import metadata

    return metadata.version("spanprof")


__version__ = _installed() if native is None else native.version()
