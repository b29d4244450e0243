"""Recognizes development servers that run the program in a child and watch its files.
The parent serves no requests and is not profiled."""
from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def _is_django(words: Sequence[str]) -> bool:
    """Whether this is the parent of Django's reloader: `runserver` reloads unless
    --noreload is given, and only the child has RUN_MAIN=true
    (django/utils/autoreload.py, 1.7 to 5.2)."""
    return ("runserver" in words and "--noreload" not in words
            and os.environ.get("RUN_MAIN") != "true"
            and any(os.path.basename(word) in ("manage.py", "django-admin", "django")
                    for word in words))


def _is_flask(words: Sequence[str]) -> bool:
    """Whether this is the parent of Flask's reloader: `run` reloads in debug mode, and
    only the child has WERKZEUG_RUN_MAIN=true (flask/cli.py, 2.2 to 3.1, and
    werkzeug/_reloader.py)."""
    debugs = "--debug" in words or os.environ.get("FLASK_DEBUG", "0").lower() not in ("0", "false", "no")
    return ("run" in words and ("--reload" in words or debugs and "--no-reload" not in words)
            and os.environ.get("WERKZEUG_RUN_MAIN") != "true"
            and any(os.path.basename(word) == "flask" for word in words))


def is_parent() -> bool:
    """Whether this process is the parent of a reloader that also loads the program."""
    return _is_django(sys.orig_argv) or _is_flask(sys.orig_argv)
