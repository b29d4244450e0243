"""Development servers that run the program in a child and watch its files: the
parent serves nothing and stays unprofiled."""
from __future__ import annotations

import os
import sys


def is_parent() -> bool:
    """Whether this process is Django's autoreloader, which loads the program's
    settings too (django/utils/autoreload.py, 1.7 to 5.2: the child has
    RUN_MAIN=true; `runserver` reloads unless told not to)."""
    words = sys.orig_argv
    return ("runserver" in words and "--noreload" not in words
            and os.environ.get("RUN_MAIN") != "true"
            and any(os.path.basename(word) in ("manage.py", "django-admin", "django")
                    for word in words))
