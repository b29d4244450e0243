"""pyroscope-io and pyroscope-otel in the same environment: they install the
packages `pyroscope` and `pyroscope.otel`, and so do we. Whoever came last
overwrote the other, and an uninstall of either takes the files of both."""
from __future__ import annotations

import importlib.util
import os
import sys

_OTHERS = ("pyroscope-io", "pyroscope-otel")
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _installed() -> list[str]:
    """Which of the others has metadata on sys.path. importlib.metadata would
    look in the same places, and its import takes longer than all of ours."""
    entries: set[str] = set()
    for directory in sys.path:
        try:
            entries.update(entry for entry in os.listdir(directory or ".")
                           if entry.startswith("pyroscope"))
        except OSError:
            continue
    return [name for name in _OTHERS
            if any(entry.startswith(name.replace("-", "_") + "-")
                   and entry.endswith((".dist-info", ".egg-info")) for entry in entries)]


def _ours(package: str) -> bool:
    """Whether the file of that package, if there is one, is ours."""
    path = os.path.join(_HERE, *package.split("."), "__init__.py")
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return "spanprof" in file.read(4096)
    except OSError:
        return False


def sentence() -> str | None:
    """Return what is wrong with the package `pyroscope`, or None."""
    installed = _installed()
    theirs = [package for package in ("pyroscope", "pyroscope.otel") if not _ours(package)]
    if installed and theirs:
        return (f"{' and '.join(installed)} overwrote {' and '.join(theirs)} of "
                "spanprof, which has the same packages: uninstall it, then "
                "reinstall spanprof")
    if installed:
        return (f"{' and '.join(installed)} and spanprof install the same packages, "
                "and those of spanprof are in use: uninstall the former, then "
                "reinstall spanprof")
    if theirs:
        return (f"{' and '.join(theirs)} of spanprof is missing, as after an "
                "uninstall of pyroscope-io: reinstall spanprof")
    spec = importlib.util.find_spec("pyroscope")
    if spec and spec.origin and not spec.origin.startswith(_HERE):
        return f"`import pyroscope` finds {spec.origin}, which is not spanprof's"
    return None
