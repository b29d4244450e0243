"""The commands `spanprof COMMAND` and `python -m spanprof [-m] app.py`."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence

import spanprof

from . import _autostart
from ._binding import load_error, native
from ._logging import last_resort

_EXEC_USAGE = """usage: spanprof exec [--open] [--] PROGRAM [ARGUMENT...]

Runs a program and profiles it and every Python interpreter that it starts.
With --open, the profiles are not kept: when the program has exited, a flame
graph is written to a temporary file and shown in the browser.
Options are environment variables: PYROSCOPE_APPLICATION_NAME,
PYROSCOPE_SERVER_ADDRESS and those in the documentation of spanprof.start().
"""
_RUN_USAGE = """usage: python -m spanprof FILE | -m MODULE | -c CODE [ARGUMENT...]
       python -m spanprof COMMAND ... | --version

Profiles a Python program, with the options in its environment, or runs one of
the commands that `python -m spanprof help` lists.
"""


def _wait_for(arguments: Sequence[str]) -> int:
    """Run a program until it exits, with the signal handling of a shell. Return its
    exit status."""
    child = subprocess.Popen(arguments)

    def forward(number: int, _: object) -> None:
        child.send_signal(number)

    def ignore(_: int, __: object) -> None:
        """Do nothing: the terminal sends the signal to the program, too, and the
        program decides whether it exits."""

    number: int
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, ignore)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, forward)
    status = child.wait()
    return status if status >= 0 else 128 - status


def _exec_open(arguments: Sequence[str]) -> int:
    if native is None:
        last_resort(str(load_error))
        return 1
    with tempfile.TemporaryDirectory(prefix="spanprof-") as directory:
        os.environ["PYROSCOPE_OUTPUT_DIRECTORY"] = directory
        status = _wait_for(arguments)
        if os.listdir(directory):
            sys.stdout.flush()
            native.command(["spanprof", "report", "--open", "--title",
                            f"CPU time of {os.path.basename(arguments[0])}", directory])
        else:
            last_resort("there is nothing to open: no CPU time was sampled")
    return status


def _exec(arguments: Sequence[str]) -> int:
    opened = arguments[:1] == ["--open"]
    if opened:
        arguments = arguments[1:]
    if arguments[:1] == ["--"]:
        arguments = arguments[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_EXEC_USAGE, end="", file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    os.environ[_autostart.VARIABLE] = "1"
    try:
        if opened:
            return _exec_open(arguments)
        os.execvp(arguments[0], list(arguments))
    except OSError as error:
        last_resort(f"{arguments[0]}: {error.strerror}")
        return 127


def _exit_with_reader() -> None:
    """Let SIGPIPE end the command without a message when the reader of its output
    exits, as in `spanprof report | head -1`. Python ignores SIGPIPE, and a program that
    `exec` starts would ignore it too."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command `spanprof`.

    Args:
        arguments: the arguments after `spanprof`; default `sys.argv[1:]`.

    Returns:
        The exit status: 0 success, 1 failure, 2 wrong usage.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    _exit_with_reader()
    if arguments[:1] == ["exec"]:
        return _exec(arguments[1:])
    if native is None and arguments[:1] == ["--version"]:
        print(f"spanprof {spanprof.__version__} ({load_error})")
        return 0
    if native is None:
        last_resort(str(load_error))
        return 1
    sys.stdout.flush()
    return native.command(["spanprof", *arguments])


def run(arguments: Sequence[str]) -> int:
    """Replace this process by an interpreter that runs a program and profiles it from
    its first line on.

    Args:
        arguments: arguments for the interpreter: "app.py", or "-m", "app".

    Returns:
        The exit status if the program did not start.
    """
    _exit_with_reader()
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_RUN_USAGE, end="", file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    if not any(os.path.exists(os.path.join(entry, "spanprof.pth")) for entry in sys.path):
        last_resort("there is no spanprof.pth in the site-packages of "
                    f"{sys.executable}: install spanprof there")
        return 1
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    return _exec([sys.executable, *flags, *arguments])


def _is_command(word: str) -> bool:
    """Whether the first argument is a command of spanprof, not a program: it is
    `--version`, or it is no option and no file and contains no dot or slash. If there
    is no such command, the library refuses it."""
    return word == "--version" or not (
        word.startswith("-") or "." in word or os.sep in word or os.path.isfile(word))


if __name__ == "__main__":
    if sys.argv[1:2] and _is_command(sys.argv[1]):
        sys.exit(main())
    sys.exit(run(sys.argv[1:]))
