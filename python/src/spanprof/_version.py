"""The version of the compiled extension, or of the installed package without it."""
from __future__ import annotations

from ._binding import native


def _installed() -> str:
    from importlib import metadata

    return metadata.version("spanprof")


__version__ = _installed() if native is None else native.version()
