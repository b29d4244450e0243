"""The profile of a block or of a function's calls, shown where it ends."""
from __future__ import annotations

import functools
import inspect
import json
import os
import pathlib
import sys
import tempfile
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, NamedTuple, TypeVar, cast

from . import _logging, _pprof, _session
from ._binding import Error, native

_Function = TypeVar("_Function", bound=Callable[..., Any])
# Held from the start of a profile to its end: a process has one session.
_taken = threading.Lock()
# The command reads its options one call after the other.
_reporting = threading.Lock()
_HOUR_MS = 3_600_000
_STOP_S = 10.0
_BESIDE = ("spanprof.profile() needs the process to itself, and it is profiled already: "
           "its profiles have this block, or call spanprof.stop() first")


class FunctionRow(NamedTuple):
    """A function's CPU seconds, its own and with what it called, and the samples
    that they rest on."""

    name: str
    file: str
    self_s: float
    total_s: float
    self_samples: int
    total_samples: int


class SpanRow(NamedTuple):
    """The CPU seconds of the spans of one name, their own and with the spans in
    them, and the samples that they rest on; "(no span)" is what ran in none."""

    name: str
    spans: int
    self_s: float
    total_s: float
    self_samples: int
    total_samples: int


def _amounts(row: dict[str, int]) -> tuple[float, float, int, int]:
    return row["self"] / 1e9, row["total"] / 1e9, row["self_samples"], row["total_samples"]


class profile:
    """Profile a block, or a function's calls, and print what it spent CPU time on.

        with spanprof.profile() as p:
            ...
        p.top(), p.spans(), p.save("block.pb.gz"), p.open()

        @spanprof.profile("import.pb.gz")
        def import_orders(): ...

    Every thread of the process is in it for as long as the block runs, and
    nothing is sent anywhere. Spans are told apart where a `SpanProcessor` was
    added. Where profiling is not possible the logger "spanprof" says why, and the
    block runs all the same; so it does while the process is profiled otherwise,
    by `start` or by another `profile`: a process has one session.

    As a decorator it profiles each call, of coroutine functions too; a call
    within another, or beside it in another thread, is part of that one's profile.

    Args:
        path: a file to write at the end, as by `save`.
        sample_rate_hz: samples per second of CPU time and thread, 1..1000. Above
            the kernel's tick (often 250) each sample stands for more time.
        native_frames: show functions of C code (numpy, zlib, the interpreter);
            without them their time is that of the Python function that called.
        rows: of each table that is printed; 0 for all.
        show: print the tables to stderr at the end.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, *,
                 sample_rate_hz: int = 1000, native_frames: bool = False, rows: int = 10,
                 show: bool = True) -> None:
        if path is not None and not isinstance(path, (str, os.PathLike)):
            raise TypeError("a decorator is written @spanprof.profile()" if callable(path) else
                            f"path must be text or a path, not {type(path).__name__}")
        self._path = path
        self._sampling: dict[str, Any] = {"sample_rate_hz": sample_rate_hz, "native_frames": native_frames}
        self._output: dict[str, Any] = {"rows": rows, "show": show}
        self._session = 0  # number of ours; 0: none
        self._parts: list[bytes] = []
        self._refusal: str | None = "nothing was profiled yet"

    def __enter__(self) -> profile:
        if not _taken.acquire(blocking=False):
            self._refuse("another spanprof.profile() is being taken in this process")
            return self
        self._begin()
        if not self._session:
            _taken.release()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        if not self._session:
            return
        try:
            if _session.number == self._session:  # the block may have started another
                _session.stop(_STOP_S)
        finally:
            self._session = 0
            _taken.release()
        self._refusal = None if self._parts else "no CPU time was sampled"
        if self._path is not None and self._parts:
            self.save(self._path)
        if self._output["show"]:
            print(self if self._parts else f"spanprof: {self._refusal}", file=sys.stderr)

    def __call__(self, function: _Function) -> _Function:
        """Profile every call of a function."""
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError("spanprof.profile() decorates functions and coroutine functions; "
                            "in a generator it is used as a block")

        def of_call() -> profile:
            return profile(self._path, **self._sampling, **self._output)

        if inspect.iscoroutinefunction(function):
            @functools.wraps(function)
            async def call_async(*args: Any, **keywords: Any) -> Any:
                if _taken.locked():
                    return await function(*args, **keywords)
                with of_call():
                    return await function(*args, **keywords)

            return cast(_Function, call_async)

        @functools.wraps(function)
        def call(*args: Any, **keywords: Any) -> Any:
            if _taken.locked():
                return function(*args, **keywords)
            with of_call():
                return function(*args, **keywords)

        return cast(_Function, call)

    def __str__(self) -> str:
        """The tables of `spanprof report`, or why there are none."""
        if self._refusal is not None:
            return f"spanprof: {self._refusal}"
        return self._report("--top", str(self._output["rows"])).rstrip("\n")

    def top(self, rows: int = 10) -> list[FunctionRow]:
        """Return the functions with the most CPU time of their own; 0: all.

        Raises:
            Error: nothing was profiled.
        """
        return [FunctionRow(row["name"], row["file"], *_amounts(row))
                for row in self._json(rows)["functions"]]

    def spans(self, rows: int = 10) -> list[SpanRow]:
        """Return the names of spans with the most CPU time; 0: all.

        Raises:
            Error: nothing was profiled.
        """
        return [SpanRow(row["name"], row["spans"], *_amounts(row))
                for row in self._json(rows)["span_names"]]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the profile as gzip-compressed pprof, for `spanprof report`,
        `go tool pprof` and others.

        Raises:
            Error: nothing was profiled.
            OSError: the file cannot be written.
        """
        self._need()
        pathlib.Path(path).write_bytes(_pprof.merged(self._parts))

    def html(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Write a page with a flame graph, search and the span names: one file,
        which opens from disk without a network.

        Args:
            path: "block.html".
            title: its heading; by itself of the program.

        Raises:
            Error: nothing was profiled, or this package was built without a page.
            OSError: the file cannot be written.
        """
        pathlib.Path(path).write_text(self._page(title, "--html", "-"), encoding="utf-8")

    def open(self, *, title: str | None = None) -> str:
        """Show this page in the browser: what BROWSER names, else xdg-open,
        wslview or open.

        Returns:
            The temporary file that it is in, which stays.

        Raises:
            Error: nothing was profiled, no page or no browser is there.
        """
        return self._page(title, "--open").rstrip("\n")

    def _refuse(self, sentence: str) -> None:
        self._refusal = sentence
        _logging.say_once(f"not profiled: {sentence}")

    def _begin(self) -> None:
        self._parts = []
        self._refusal = "the block has not ended"
        reason: str | None = _BESIDE
        if not _session.running():
            reason = _session.start_locally(**self._sampling, on_profile=self._take, upload_interval_ms=_HOUR_MS)
        if reason is None:
            self._session = _session.number
            native.thread_register()
        else:
            self._refuse(reason)

    def _take(self, part: bytes, start_ns: int, duration_ns: int) -> None:
        self._parts.append(part)

    def _need(self) -> None:
        if self._refusal is not None:
            raise Error(self._refusal)

    def _report(self, *options: str) -> str:
        with _reporting, tempfile.TemporaryDirectory(prefix="spanprof-") as directory:
            for i, part in enumerate(self._parts):
                pathlib.Path(directory, f"{i}.pb.gz").write_bytes(part)
            status: int
            printed: str
            complaint: str
            status, printed, complaint = native.command_output(["spanprof", "report", *options, directory])
        if status != 0:
            raise Error(complaint.strip())
        return printed

    def _page(self, title: str | None, *options: str) -> str:
        self._need()
        program = os.path.basename(sys.argv[0]) if sys.argv else ""
        return self._report(*options, "--title", title or f"CPU time of {program or 'a program'}")

    def _json(self, rows: int) -> dict[str, Any]:
        self._need()
        values: dict[str, Any] = json.loads(self._report("--json", "--top", str(rows)))
        return values
