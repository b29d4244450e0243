"""pyroscope-io and pyroscope-otel in the same environment: they install the
packages `pyroscope` and `pyroscope.otel`, and so do we. Whoever came last
overwrote the other, and an uninstall of either takes the files of both."""
from __future__ import annotations

import os
import sys

_OTHERS = ("pyroscope-io", "pyroscope-otel")
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _path() -> list[str]:
    """Python, too, passes over what is no text."""
    return [entry for entry in sys.path if isinstance(entry, str)]


def _installed() -> list[str]:
    """Which of the others has metadata on sys.path. importlib.metadata would
    look in the same places, and its import takes longer than all of ours."""
    entries: set[str] = set()
    for directory in _path():
        try:
            entries.update(entry for entry in os.listdir(directory or ".")
                           if entry.startswith("pyroscope"))
        except (OSError, ValueError):  # a NUL byte
            continue
    return [name for name in _OTHERS
            if any(entry.startswith(name.replace("-", "_") + "-")
                   and entry.endswith((".dist-info", ".egg-info")) for entry in entries)]


def _is_installed() -> bool:
    """Whether an installer put this package here. A frozen program (PyInstaller)
    contains only the modules that it imports."""
    return not getattr(sys, "frozen", False) and os.path.isdir(_HERE) and any(
        entry.startswith("spanprof-") and entry.endswith((".dist-info", ".egg-info"))
        for entry in os.listdir(_HERE))


def _ours(package: str) -> bool:
    """Whether the file of that package, if there is one, is ours."""
    path = os.path.join(_HERE, *package.split("."), "__init__.py")
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return "spanprof" in file.read(4096)
    except OSError:
        return False


def _found() -> str | None:
    """What `import pyroscope` finds on sys.path. importlib.util would say, but not
    where a test has put a stub in its place."""
    for directory in _path():
        package = os.path.join(directory, "pyroscope")
        if os.path.isfile(os.path.join(package, "__init__.py")):
            return package
        if os.path.isfile(f"{package}.py"):
            return f"{package}.py"
    return None


def sentence() -> str | None:
    """Return what is wrong with the package `pyroscope`, or None: nothing, or
    nothing that can be told, as of an archive."""
    if not _is_installed():
        return None
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
    found = _found()
    if found and os.path.dirname(os.path.abspath(found)) != _HERE:
        return f"`import pyroscope` finds {found}, which is not spanprof's"
    return None
