"""Calls a function when the program imports a module. So spanprof can replace functions
of the standard library without importing the modules itself: a program that environment
variables profile must find the same modules in sys.modules as without spanprof."""
from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_waiting: dict[str, Callable[[Any], None]] = {}


def wraps(original: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Like functools.wraps; importing functools would import ten modules. `original`
    may lack some attributes of a function, as mod_wsgi's signal.signal does."""
    def decorate(function: Any) -> Any:
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            if hasattr(original, name):
                setattr(function, name, getattr(original, name))
        function.__wrapped__ = original
        return function

    return decorate


def _act(name: str, module: Any) -> None:
    """Call the function that waits for the module. Exceptions of this function are
    logged, so that the program's import does not fail."""
    act = _waiting.pop(name, None)
    try:
        if act:
            act(module)
    except Exception as error:
        from . import _logging

        _logging.log(_logging.WARNING, f"cannot hook into {name}: {type(error).__name__}")


class _Loader:
    """Replaces the loader of one spec until the module is executed. The original loader
    cannot be changed: it may load many modules, may allow no attributes, or may be a
    proxy of another library."""

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
    """The first finder of sys.meta_path. For a module that a function waits for, it
    asks the other finders and puts a `_Loader` into the spec that they return."""

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
    """Call `act(module)` when the program has imported the module `name`, or at once if
    the program has imported it already."""
    module = sys.modules.get(name)
    _waiting[name] = act
    if module is not None:
        _act(name, module)
        return
    finders: list[Any] = sys.meta_path
    if _Finder not in finders:
        finders.insert(0, _Finder)
