"""The API of pyroscope-io, profiled by spanprof.

Every keyword and function of the releases of pyroscope-io exists here with the same
meaning. A setting that has no meaning in spanprof is accepted and logged once through
`logging`. If profiling fails, no function here raises an exception.
"""
from __future__ import annotations

import logging
import math
import os
import platform
import sys
import threading
import warnings
from collections.abc import Mapping
from typing import Any

import spanprof
from spanprof._binding import native as _native
from spanprof._label import label
from spanprof._logging import log_once
from spanprof._session import start_with

from ._values import LineNo, ProfilerImplementation

__all__ = [
    "LineNo", "ProfilerImplementation", "add_global_tag", "add_thread_tag",
    "build_summary", "change_name", "configure",
    "configure_experimental_stack_profiler", "remove_global_tag", "remove_tags",
    "remove_thread_tag", "runtime_name", "runtime_version", "shutdown", "stop",
    "tag", "tag_wrapper", "test_logger",
]

LOGGER = logging.getLogger(__name__)

_DEFAULT_SERVER = "http://localhost:4040"
# For each keyword: the values that match spanprof's behaviour, the reason why other
# values have no effect, and the level at which this reason is logged. It is WARNING if
# the program asked for profiles that spanprof does not make.
_WITHOUT_EFFECT = {
    "oncpu": ((True,), "only CPU time is sampled", logging.WARNING),
    "gil_only": ((True,), "threads that released the GIL are always profiled", logging.INFO),
    "mem_enabled": ((False,), "memory is not profiled", logging.WARNING),
    "cpu_implementation": ((ProfilerImplementation.PySpy,), "spanprof has only one sampler", logging.INFO),
    "detect_subprocesses": ((False,), "forked processes are always profiled", logging.INFO),
}
_LINE_NUMBERS = ((LineNo.LastInstruction, "executed"), (LineNo.First, "first"),
                 (LineNo.NoLine, "none"))
# Options of `spanprof.start` and the keywords of `configure` for them. The sentence
# that refuses a value names the keyword. Only options with the same unit are listed.
_WRITTEN = {"basic_auth_user": "basic_auth_username",
            "labels": "tags", "line_numbers": "line_no", "sample_rate_hz": "sample_rate"}
_LEGACY = {"auth_token", "detect_subprocesses"}
_stack_profiler_configured = False


def _log_without_effect(given: Mapping[str, Any]) -> None:
    for name, (meant, why, level) in _WITHOUT_EFFECT.items():
        if name in given and given[name] not in meant:
            log_once(f"{name}={given[name]} has no effect: {why}", level)


def _bounded(name: str, value: Any, least: float, most: float) -> Any:
    """Replace a positive number that is out of range by the nearest number in range.
    Return any other value unchanged; if it is wrong, `start` refuses it and names the
    keyword."""
    if not isinstance(value, (int, float)) or not 0 < value < math.inf:
        return value
    bounded = min(max(value, least), most)
    if bounded != value:
        log_once(f"{name}={value} is out of range; {bounded} is used")
    return bounded


def _server_address(given: str | None) -> str | None:
    """Return the address, or None if it is the default of `configure` and
    PYROSCOPE_SERVER_ADDRESS is set, so that this variable decides."""
    if given == _DEFAULT_SERVER and os.environ.get("PYROSCOPE_SERVER_ADDRESS"):
        return None
    return given


def _milliseconds(seconds: Any) -> Any:
    """Convert a number of seconds to milliseconds. Return any other value unchanged, so
    that `start` refuses it and names the keyword."""
    if isinstance(seconds, float) and not math.isfinite(seconds):
        return seconds
    return round(seconds * 1000) if isinstance(seconds, (int, float)) else seconds


def _line_numbers(line_no: Any) -> Any:
    """Convert a `LineNo` to a value of the option line_numbers. Return any other value
    unchanged, so that `start` refuses it."""
    return next((name for value, name in _LINE_NUMBERS if value is line_no), line_no)


def _log_level(enable_logging: bool) -> str:
    if not enable_logging:
        return "warn"
    debug = logging.getLogger("spanprof").isEnabledFor(logging.DEBUG)
    return "debug" if debug else "info"


def configure(
    app_name: str | None = None,
    application_name: str | None = None,
    server_address: str = _DEFAULT_SERVER,
    basic_auth_username: str = "",
    basic_auth_password: str = "",
    enable_logging: bool = False,
    sample_rate: int = 100,
    oncpu: bool = True,
    native: bool | None = None,
    gil_only: bool = True,
    report_pid: bool = False,
    report_thread_id: bool = False,
    report_thread_name: bool = False,
    tags: Mapping[str, str] | None = None,
    tenant_id: str = "",
    http_headers: Mapping[str, str] | None = None,
    line_no: LineNo = LineNo.LastInstruction,
    upload_interval: float = 10,
    mem_enabled: bool = False,
    mem_max_nframe: int = 128,
    mem_heap_sample_size: int = 524288,
    mem_enable_mem_domain: bool = True,
    cpu_enabled: bool = True,
    cpu_implementation: ProfilerImplementation = ProfilerImplementation.PySpy,
    **older: Any,
) -> bool:
    """Profile this process and its forked children from now on. Call it again to
    change options, also after `shutdown`.

    Args:
        app_name: deprecated; use `application_name`.
        application_name: name of the service.
        server_address: URL of the server. PYROSCOPE_SERVER_ADDRESS replaces the
            default, but not another address.
        basic_auth_username: used only with a password.
        basic_auth_password: used only with a user name.
        enable_logging: log all actions, not only failures, to the logger
            "spanprof".
        sample_rate: samples per second of CPU time and thread, at most 1000.
        oncpu: without effect, like `gil_only`, `mem_enabled` and
            `cpu_implementation`. Other values than the default are logged.
        native: deprecated; native frames are always recorded.
        report_pid: add the label `pid` to every sample.
        report_thread_id: add the label `thread_id`, the thread's number in the kernel.
        report_thread_name: add the label `thread_name`, the thread's name in the kernel.
        tags: labels of every profile.
        tenant_id: value of the header X-Scope-OrgID.
        http_headers: additional headers of every upload.
        line_no: which line a frame shows.
        upload_interval: length of one profile in seconds, 0.1 to 3600.
        cpu_enabled: False stops profiling.
        **older: `auth_token`, a bearer token, and `detect_subprocesses`, from
            releases before 1.0.

    Returns:
        Whether profiling runs. If not, the logger "spanprof" has the reason.

    Raises:
        spanprof.Error: profiling did not start, and SPANPROF_REQUIRED=1.
    """
    given = locals() | older
    if app_name is not None:
        warnings.warn("app_name is deprecated, use application_name",
                      DeprecationWarning, stacklevel=2)
        application_name = app_name
    if native is not None:
        warnings.warn("native is deprecated, native frames are always recorded",
                      DeprecationWarning, stacklevel=2)
    _log_without_effect(given)
    for name in older.keys() - _LEGACY:
        log_once(f"configure() ignores the unknown keyword {name}")
    if not cpu_enabled:
        log_once("cpu_enabled=False: nothing is profiled, because spanprof profiles only CPU time")
        spanprof.stop()
        return False
    with_auth = bool(basic_auth_username and basic_auth_password)
    options = dict(
        application_name=application_name,
        server_address=_server_address(server_address),
        basic_auth_user=basic_auth_username if with_auth else None,
        basic_auth_password=basic_auth_password if with_auth else None,
        auth_token=older.get("auth_token") or None,
        sample_rate_hz=_bounded("sample_rate", sample_rate, 0, 1000),
        report_pid=bool(report_pid),
        report_thread_id=bool(report_thread_id),
        report_thread_name=bool(report_thread_name),
        labels=tags or None,
        clean_label_names=True,
        dotted_label_names=True,
        tenant_id=tenant_id or None,
        http_headers=http_headers or None,
        line_numbers=_line_numbers(line_no),
        upload_interval_ms=_milliseconds(_bounded("upload_interval", upload_interval, 0.1, math.inf)),
        log_level=_log_level(enable_logging),
    )
    return start_with({name: value for name, value in options.items() if value is not None}, _WRITTEN)


def configure_experimental_stack_profiler(
    max_nframe: int = 128,
    max_threads: int = 25,
    adaptive_sampling: bool = True,
    adaptive_target_overhead: float = 0.01,
    adaptive_max_interval_us: int = 100000,
    adaptive_baseline: float = 0.0,
    adaptive_p_stable_window_s: int = 600,
    adaptive_p_stable_percentile: float = 95.0,
    cpu_timer_enabled: bool = True,
    cpu_timer_interval_ms: int = 10,
) -> bool:
    """Accepted without effect: there is one sampler, which uses timers of CPU time.

    Returns:
        Whether this is the first call in the process.
    """
    global _stack_profiler_configured
    first = not _stack_profiler_configured
    _stack_profiler_configured = True
    log_once("configure_experimental_stack_profiler() has no effect: spanprof "
             "has only one sampler", logging.INFO)
    return first


def shutdown() -> bool:
    """Send the remaining samples, for at most 2 s, and stop profiling.

    Returns:
        Whether profiling ran.
    """
    ran = spanprof.running()
    spanprof.stop()
    return ran


def tag_wrapper(tags: Mapping[str, str]) -> label:
    """Label the samples of a block of code or, as a decorator, of a function, also
    across its awaits.

    Args:
        tags: values by name; both are converted with `str`.
    """
    return label(**{str(key): value for key, value in tags.items()})


def _own_tag(key: Any, value: Any, older: tuple[Any, ...],
             thread_id: int | None) -> tuple[str, str] | None:
    """Return the name and the value of a tag from the arguments of `add_thread_tag`, in
    the old or the new order. Return None if they name another thread."""
    if older:
        thread_id, key, value = key, value, older[0]
    if thread_id not in (None, threading.get_ident()):
        log_once("a thread can be tagged only by itself: the tag was not set")
        return None
    return str(key), str(value)


def add_thread_tag(key: Any, value: Any, *older: Any,
                   thread_id: int | None = None) -> bool:
    """Label the calling thread (or task) from now on.

    Args:
        key: name of the tag.
        value: value of the tag. Releases before 1.0 had three arguments, the
            thread's identifier, name and value, which are accepted too.

    Returns:
        Whether the label is set.
    """
    tag = _own_tag(key, value, older, thread_id)
    if tag is None or _native is None:
        return False
    _native.label_set(*tag)
    return True


def remove_thread_tag(key: Any, value: Any, *older: Any,
                      thread_id: int | None = None) -> bool:
    """Undo `add_thread_tag` with the same arguments.

    Returns:
        Whether the tag belonged to the calling thread.
    """
    tag = _own_tag(key, value, older, thread_id)
    if tag is None or _native is None:
        return False
    _native.label_remove(*tag)
    return True


def runtime_name() -> str:
    """Return "cpython"."""
    return sys.implementation.name


def runtime_version() -> str:
    """Return the interpreter's version, for example "3.12.1"."""
    return platform.python_version()


def _deprecated(instead: str) -> None:
    warnings.warn(f"deprecated, {instead}", DeprecationWarning, stacklevel=3)


def stop() -> None:
    """Deprecated, without effect: `shutdown` ends profiling."""
    _deprecated("use shutdown")


def change_name(name: str) -> None:
    """Deprecated, without effect: call `configure` again."""
    _deprecated("call configure again")


def tag(tags: Mapping[str, str]) -> None:
    """Deprecated, without effect: `tag_wrapper` labels a block."""
    _deprecated("use tag_wrapper")


def remove_tags(*keys: str) -> None:
    """Deprecated, without effect: `tag_wrapper` labels a block."""
    _deprecated("use tag_wrapper")


def add_global_tag(*tag: Any) -> None:
    """Deprecated, without effect: `tags` of `configure` label every profile."""
    _deprecated("use the keyword tags of configure")


def remove_global_tag(*tag: Any) -> None:
    """Deprecated, without effect: `tags` of `configure` label every profile."""
    _deprecated("use the keyword tags of configure")


def build_summary() -> None:
    """Deprecated, without effect."""
    _deprecated("no longer applicable")


def test_logger() -> None:
    """Deprecated, without effect."""
    _deprecated("no longer applicable")
