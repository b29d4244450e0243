"""What a start by the environment needs of the standard library, without its
modules: it brings in none that the interpreter has not, so that the program
finds what it would find without us."""
from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_waiting: dict[str, Callable[[Any], None]] = {}


def wraps(original: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """As functools.wraps, which brings in ten modules. Another's replacement need
    not have what a function has (mod_wsgi's signal.signal)."""
    def dress(function: Any) -> Any:
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            if hasattr(original, name):
                setattr(function, name, getattr(original, name))
        function.__wrapped__ = original
        return function

    return dress


def _act(name: str, module: Any) -> None:
    """What waits for it; what is wrong there is no failure of the import."""
    act = _waiting.pop(name, None)
    try:
        if act:
            act(module)
    except Exception as error:
        from . import _logging

        _logging.log(_logging.WARNING, f"{name} is not followed: {type(error).__name__}")


class _Loader:
    """That of one spec, since a loader may be of many modules, take no attributes
    or be another's proxy, and in its place for the one call."""

    _loader: Any = None
    _spec: Any = None

    def __init__(self, spec: Any) -> None:
        self._spec, self._loader = spec, spec.loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def exec_module(self, module: Any) -> None:
        if self._spec.loader is self:
            self._spec.loader = self._loader
        if getattr(module, "__loader__", None) is self:
            module.__loader__ = self._loader
        self._loader.exec_module(module)
        if sys.modules.get(self._spec.name) is module:
            _act(self._spec.name, module)


class _Finder:
    """First on sys.meta_path while something waits; finds what the others find."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        if name not in _waiting:
            return None
        finders: list[Any] = [*sys.meta_path]
        found = (finder.find_spec(name, path, target) for finder in finders
                 if finder is not _Finder and hasattr(finder, "find_spec"))
        spec = next(filter(None, found), None)
        if spec and hasattr(spec.loader, "exec_module"):
            spec.loader = _Loader(spec)
        return spec


def when_imported(name: str, act: Callable[[Any], None]) -> None:
    """Call `act(module)` once the program has imported the module; now, if it
    has."""
    module = sys.modules.get(name)
    _waiting[name] = act
    if module is not None:
        _act(name, module)
        return
    finders: list[Any] = sys.meta_path
    if _Finder not in finders:
        finders.insert(0, _Finder)
