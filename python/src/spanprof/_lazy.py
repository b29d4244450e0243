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
        loader: Any = spec and spec.loader
        run: Any = getattr(loader, "exec_module", None)
        if run is None or isinstance(loader, type):  # not this module's alone
            return spec

        def exec_module(module: Any) -> None:
            run(module)
            act = _waiting.pop(name, None)
            if act:
                act(module)

        loader.exec_module = exec_module
        return spec


def when_imported(name: str, act: Callable[[Any], None]) -> None:
    """Call `act(module)`, which does not raise, once the program has imported
    the module; now, if it has."""
    module = sys.modules.get(name)
    if module is not None:
        act(module)
        return
    _waiting[name] = act
    finders: list[Any] = sys.meta_path
    if _Finder not in finders:
        finders.insert(0, _Finder)
