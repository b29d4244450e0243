"""`spanprof COMMAND` and `python -m spanprof [-m] app.py`."""
from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

import spanprof

from . import _autostart
from ._binding import load_error, native

_EXEC_USAGE = """usage: spanprof exec [--] PROGRAM [ARGUMENT...]

Runs a program with profiling in every Python interpreter it is or starts.
Options are variables: PYROSCOPE_APPLICATION_NAME, PYROSCOPE_SERVER_ADDRESS and
the others of spanprof.start(), each named in its documentation.
"""
_RUN_USAGE = """usage: python -m spanprof FILE | -m MODULE | -c CODE [ARGUMENT...]
       python -m spanprof COMMAND ... | --version

Runs a Python program profiled, by the options in its environment, or one of the
commands that `python -m spanprof help` lists.
"""


def _exec(arguments: Sequence[str]) -> int:
    if arguments[:1] == ["--"]:
        arguments = arguments[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_EXEC_USAGE, end="", file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    os.environ[_autostart.VARIABLE] = "1"
    try:
        os.execvp(arguments[0], list(arguments))
    except OSError as error:
        print(f"spanprof: {arguments[0]}: {error.strerror}", file=sys.stderr)
        return 127


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command `spanprof`.

    Args:
        arguments: those after the command's name; default `sys.argv[1:]`.

    Returns:
        The exit status: 0 good, 1 failed, 2 wrong usage.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["exec"]:
        return _exec(arguments[1:])
    if native is None and arguments[:1] == ["--version"]:
        print(f"spanprof {spanprof.__version__} ({load_error})")
        return 0
    if native is None:
        print(f"spanprof: {load_error}", file=sys.stderr)
        return 1
    sys.stdout.flush()
    return native.command(["spanprof", *arguments])


def run(arguments: Sequence[str]) -> int:
    """Become the interpreter of a program, profiled from its first line.

    Args:
        arguments: as those of the interpreter, "app.py" or "-m", "app".

    Returns:
        The exit status, where the program did not start.
    """
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_RUN_USAGE, end="", file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    if not any(os.path.exists(os.path.join(entry, "spanprof.pth")) for entry in sys.path):
        print("spanprof: there is no spanprof.pth in the site-packages of "
              f"{sys.executable}: install the package there", file=sys.stderr)
        return 1
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    return _exec([sys.executable, *flags, *arguments])


def _is_command(word: str) -> bool:
    """Whether it can be no program: neither an option nor a file, nor named like
    one. The library knows which commands there are."""
    return word == "--version" or not (
        word.startswith("-") or "." in word or os.sep in word or os.path.isfile(word))


if __name__ == "__main__":
    if sys.argv[1:2] and _is_command(sys.argv[1]):
        sys.exit(main())
    sys.exit(run(sys.argv[1:]))
