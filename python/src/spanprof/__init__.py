"""Span-aware continuous CPU profiling.

    import spanprof

    spanprof.start(application_name="checkout",
                   server_address="http://localhost:4040")

From then on, all threads of the process and of its forked children are profiled
until the process exits. The import starts no thread and profiles nothing; it logs
a warning if another package has overwritten a part of this one.
"""
from __future__ import annotations

from . import _conflicts, _logging
from ._binding import Error
from ._session import (available, flush, pause, resume, running, start,
                       stop, unavailable_reason)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._label import label
    from ._profile import profile
    from ._stats import stats
    from ._web import asgi_app, wsgi_app
    from .otel import SpanProcessor

    __version__: str

__all__ = ["Error", "SpanProcessor", "asgi_app", "available", "flush", "label", "pause",
           "profile", "resume", "running", "start", "stats", "stop", "unavailable_reason",
           "wsgi_app"]

# All public names. The names that exist depend on the installed packages; __getattr__
# returns those as `__all__`.
_NAMES = __all__
del globals()["__all__"]

if _conflict := _conflicts.sentence():
    _logging.log_once(_conflict)


# Imported at first use, because not every program has opentelemetry-sdk, or needs the
# other modules.
_ON_USE = {"SpanProcessor": "otel", "__version__": "_version", "asgi_app": "_web",
           "label": "_label", "load_ipython_extension": "_ipython", "profile": "_profile",
           "stats": "_stats", "wsgi_app": "_web"}


def _exists(name: str) -> bool:
    from importlib.util import find_spec

    try:
        return name != "SpanProcessor" or find_spec("opentelemetry.sdk") is not None
    except (ImportError, ValueError):
        return False


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return [*filter(_exists, _NAMES)]
    if name not in _ON_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = __import__(f"{__name__}.{_ON_USE[name]}", fromlist=[name])
    return globals().setdefault(name, getattr(module, name))


def __dir__() -> list[str]:
    return sorted({"__all__", *globals(), *filter(_exists, _ON_USE)})
