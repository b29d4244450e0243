"""Profiles a block or the calls of a function, and prints the result at its end."""
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
from contextvars import ContextVar
from types import TracebackType
from typing import Any, NamedTuple, TypeVar, cast

from . import _logging, _session, _threads
from ._binding import Error, native

_Function = TypeVar("_Function", bound=Callable[..., Any])
# Only one thread at a time may call native.command_output().
_reporting = threading.Lock()


class FunctionRow(NamedTuple):
    """The CPU time of a function in seconds: `self_s` in its own code, `total_s` with
    the functions that it called. `self_samples` and `total_samples` are the numbers of
    samples in these times."""

    name: str
    file: str
    self_s: float
    total_s: float
    self_samples: int
    total_samples: int


class SpanRow(NamedTuple):
    """The CPU time of all spans with one name in seconds: `self_s` in the spans
    themselves, `total_s` with the spans inside them. `self_samples` and `total_samples`
    are the numbers of samples in these times, and `spans` is the number of spans. The
    name "(no span)" is the time outside of spans."""

    name: str
    spans: int
    self_s: float
    total_s: float
    self_samples: int
    total_samples: int


def _amounts(row: dict[str, int]) -> tuple[float, float, int, int]:
    return row["self"] / 1e9, row["total"] / 1e9, row["self_samples"], row["total_samples"]


class profile:
    """Profile a block or the calls of a function, and print its CPU time by function.

        with spanprof.profile() as p:
            ...
        p.top(), p.spans(), p.save("block.pb.gz"), p.open()

        @spanprof.profile("import.pb.gz")
        def import_orders(): ...

    The profile contains the CPU time of the block itself and of everything that the
    block starts: tasks and callbacks of asyncio, greenlets of gevent, threads of
    `threading`, jobs of a `ThreadPoolExecutor`. It does not contain threads that
    exist already, threads of native code and other processes; `all_threads` adds
    all threads of this process. Any number of profiles can run at the same time,
    also during a session of `spanprof.start`, whose profiles contain the block too.

    Nothing is uploaded, and nothing is raised. If there is no profile, the block
    still runs, the tables are empty, and the logger "spanprof" and
    `unavailable_reason` have the reason. The profile distinguishes spans if a
    `SpanProcessor` was added.

    As a decorator it profiles each call, of coroutine functions too. A nested call
    of the function belongs to the profile of the outer call.

    Args:
        path: a file to which `save` writes the profile at the end.
        sample_rate_hz: samples per second of CPU time of each thread, 1 to 1000. The
            kernel takes no more samples than its ticks (often 250 per second); each
            sample then stands for more time. All profiles share one sampler. During a
            session it has the session's rate, and `note` says so if that differs.
        native_frames: the functions of C code in stacks, as in `spanprof.start`:
            "none", "libraries" or "all"; by default as in the running session,
            otherwise "libraries".
        rows: rows of each printed table; 0 for all.
        show: print the tables to stderr at the end of the block.
        all_threads: profile all threads of the process while the block runs.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, *,
                 sample_rate_hz: int = 1000, native_frames: str | None = None, rows: int = 10,
                 show: bool = True, all_threads: bool = False) -> None:
        if path is not None and not isinstance(path, (str, os.PathLike)):
            raise TypeError("use the decorator with parentheses: @spanprof.profile()" if callable(path) else
                            f"path must be text or a path, not {type(path).__name__}")
        self._path = path
        self._requested = (not all_threads, sample_rate_hz, native_frames, None)
        self._rows = rows
        self._show = show
        self._recording: Any = None
        self._outer = 0  # number of the enclosing recording, or 0
        self._pid = 0
        self._pprof = b""
        self._note: str | None = None
        self._refusal: str | None = "nothing was profiled yet"

    @property
    def unavailable_reason(self) -> str | None:
        """Why there is no profile, in one sentence, or None if there is one."""
        return self._refusal

    @property
    def note(self) -> str | None:
        """In one sentence, how the profile differs from the requested one, for example in
        its rate; None if it does not differ."""
        return self._note

    def __enter__(self) -> profile:
        self._pprof, self._note = b"", None
        self._pid = os.getpid()
        try:
            self._begin()
            self._refusal = "the profiled block has not ended"
        except Exception as error:
            self._refuse(str(error))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        recording, self._recording = self._recording, None
        if recording is None:
            return
        try:
            self._end(recording)
        except Exception as failure:
            self._refuse(str(failure))
        if self._show and self._pid == os.getpid():
            _logging.write_stderr(f"{self}\n")

    def __call__(self, function: _Function) -> _Function:
        """Profile every call of a function."""
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError("spanprof.profile() decorates functions and coroutine functions; "
                            "inside a generator, use it as a block")
        own, rate, native_frames, _ = self._requested
        around: ContextVar[profile | None] = ContextVar("spanprof_profile", default=None)

        def of_call() -> profile | None:
            """Return the profile for a call, or None if this call is inside another
            call of the function."""
            outer = around.get()
            if outer is not None and outer._recording is not None:
                return None
            return profile(self._path, sample_rate_hz=rate, native_frames=native_frames, rows=self._rows,
                           show=self._show, all_threads=not own)

        if inspect.iscoroutinefunction(function):
            @functools.wraps(function)
            async def call_async(*args: Any, **keywords: Any) -> Any:
                recorded = of_call()
                if recorded is None:
                    return await function(*args, **keywords)
                token = around.set(recorded)
                try:
                    with recorded:
                        return await function(*args, **keywords)
                finally:
                    around.reset(token)

            return cast(_Function, call_async)

        @functools.wraps(function)
        def call(*args: Any, **keywords: Any) -> Any:
            recorded = of_call()
            if recorded is None:
                return function(*args, **keywords)
            token = around.set(recorded)
            try:
                with recorded:
                    return function(*args, **keywords)
            finally:
                around.reset(token)

        return cast(_Function, call)

    def __str__(self) -> str:
        """The tables of `spanprof report`, or the reason why there are none."""
        if self._refusal is not None:
            return f"spanprof: {self._refusal}"
        try:
            tables = self._report("--top", str(self._rows)).rstrip("\n")
        except Exception as error:
            return f"spanprof: {error}"
        return f"{tables}\nspanprof: {self._note}" if self._note else tables

    def top(self, rows: int = 10) -> list[FunctionRow]:
        """Return the `rows` functions with the most CPU time in their own code, or all
        if `rows` is 0. The list is empty if there is no profile."""
        return [FunctionRow(row["name"], row["file"], *_amounts(row))
                for row in self._json("functions", rows)]

    def spans(self, rows: int = 10) -> list[SpanRow]:
        """Return the `rows` span names with the most CPU time, or all if `rows` is 0.
        The list is empty if there is no profile."""
        return [SpanRow(row["name"], row["spans"], *_amounts(row))
                for row in self._json("span_names", rows)]

    def save(self, path: str | os.PathLike[str]) -> bool:
        """Write the profile as gzip-compressed pprof, for `spanprof report`,
        `go tool pprof` and others.

        Returns:
            Whether there is a profile. If there is none, no file is written.

        Raises:
            OSError: the file cannot be written.
        """
        if self._pprof:
            pathlib.Path(path).write_bytes(self._pprof)
        return bool(self._pprof)

    def html(self, path: str | os.PathLike[str], *, title: str | None = None) -> bool:
        """Write a page with a flame graph, a search and the span names: one file, which
        opens from disk without a network.

        Args:
            path: the file to write, for example "block.html".
            title: the heading of the page; default: "CPU time of" and the program's name.

        Returns:
            Whether there is a page. If not, the logger "spanprof" has the reason.

        Raises:
            OSError: the file cannot be written.
        """
        page = self._page(title, "--html", "-")
        if page is not None:
            pathlib.Path(path).write_text(page, encoding="utf-8")
        return page is not None

    def open(self, *, title: str | None = None) -> str | None:
        """Show the page of `html` in the browser: $BROWSER, else xdg-open, wslview or open.

        Returns:
            The path of the page, a temporary file that is not deleted. None if there is
            no page or no browser; the logger "spanprof" has the reason.
        """
        shown = self._page(title, "--open")
        return None if shown is None else shown.rstrip("\n")

    def _refuse(self, sentence: str) -> None:
        self._refusal = sentence
        if self._pid == os.getpid():
            _logging.log_once(f"not profiled: {sentence}")

    def _begin(self) -> None:
        if native is None:
            raise Error(_session.unavailable_reason() or "")
        _session.follow_threads()
        _threads.inherit_marks()
        self._outer = native.mark_get()
        self._recording = native.recording_begin(*self._requested)

    def _end(self, recording: Any) -> None:
        self._pprof, samples, self._note = native.recording_end(recording, self._outer)
        self._refusal = None if samples else "no CPU time was sampled"
        if self._path is not None:
            try:
                self.save(self._path)
            except OSError as error:
                _logging.log(_logging.WARNING, f"the profile is not saved: {error}")

    def _report(self, *options: str) -> str:
        with _reporting, tempfile.TemporaryDirectory(prefix="spanprof-") as directory:
            pathlib.Path(directory, "profile.pb.gz").write_bytes(self._pprof)
            status: int
            printed: str
            complaint: str
            status, printed, complaint = native.command_output(["spanprof", "report", *options, directory])
        if status != 0:
            raise Error(complaint.strip())
        return printed

    def _page(self, title: str | None, *options: str) -> str | None:
        program = os.path.basename(sys.argv[0]) if sys.argv else ""
        try:
            if self._refusal is not None:
                raise Error(self._refusal)
            return self._report(*options, "--title", title or f"CPU time of {program or 'a program'}")
        except Exception as error:
            _logging.log(_logging.WARNING, f"no page: {error}")
            return None

    def _json(self, table: str, rows: int) -> list[dict[str, Any]]:
        if self._refusal is not None:
            return []
        try:
            listed: list[dict[str, Any]] = json.loads(self._report("--json", "--top", str(rows)))[table]
        except Exception as error:
            self._refuse(str(error))
            return []
        return listed
