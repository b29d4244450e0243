"""Detects pyroscope-io and pyroscope-otel in the same environment. They install the
modules `pyroscope` and `pyroscope.otel`, as spanprof does. The last installation
overwrites the files of the first, and uninstalling either removes the files of both."""
from __future__ import annotations

import os
import sys

_OTHERS = ("pyroscope-io", "pyroscope-otel")
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _path() -> list[str]:
    """Return the entries of sys.path that are str. Python ignores other entries,
    too."""
    return [entry for entry in sys.path if isinstance(entry, str)]


def _installed() -> list[str]:
    """Return which of pyroscope-io and pyroscope-otel have metadata on sys.path.
    importlib.metadata would find the same metadata, but importing it takes longer than
    importing all of spanprof."""
    entries: set[str] = set()
    for directory in _path():
        try:
            entries.update(entry for entry in os.listdir(directory or ".")
                           if entry.startswith("pyroscope"))
        except (OSError, ValueError):  # ValueError: a NUL byte in the path
            continue
    return [name for name in _OTHERS
            if any(entry.startswith(name.replace("-", "_") + "-")
                   and entry.endswith((".dist-info", ".egg-info")) for entry in entries)]


def _is_installed() -> bool:
    """Whether an installer such as pip put spanprof here. False in a frozen program
    (PyInstaller), which contains only the modules that the program imports."""
    return not getattr(sys, "frozen", False) and os.path.isdir(_HERE) and any(
        entry.startswith("spanprof-") and entry.endswith((".dist-info", ".egg-info"))
        for entry in os.listdir(_HERE))


def _ours(package: str) -> bool:
    """Whether `__init__.py` of the package exists and is spanprof's."""
    path = os.path.join(_HERE, *package.split("."), "__init__.py")
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return "spanprof" in file.read(4096)
    except OSError:
        return False


def _found() -> str | None:
    """Return the path that `import pyroscope` finds on sys.path. importlib.util finds
    it, too, but not if a test has put a stub into sys.modules."""
    for directory in _path():
        package = os.path.join(directory, "pyroscope")
        if os.path.isfile(os.path.join(package, "__init__.py")):
            return package
        if os.path.isfile(f"{package}.py"):
            return f"{package}.py"
    return None


def sentence() -> str | None:
    """Return a sentence that describes the conflict. Return None if there is no
    conflict, or if this cannot be found out because spanprof is in an archive."""
    if not _is_installed():
        return None
    installed = _installed()
    theirs = [package for package in ("pyroscope", "pyroscope.otel") if not _ours(package)]
    if installed and theirs:
        return (f"{' and '.join(installed)} overwrote {' and '.join(theirs)} of spanprof: "
                f"uninstall {' and '.join(installed)}, then reinstall spanprof")
    if installed:
        return (f"{' and '.join(installed)} and spanprof install the same packages, "
                "and those of spanprof are in use: uninstall "
                f"{' and '.join(installed)}, then reinstall spanprof")
    if theirs:
        return (f"files of spanprof are missing ({' and '.join(theirs)}), as after "
                "uninstalling pyroscope-io: reinstall spanprof")
    found = _found()
    if found and os.path.dirname(os.path.abspath(found)) != _HERE:
        return f"`import pyroscope` finds {found}, which is not spanprof's"
    return None
