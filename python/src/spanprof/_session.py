"""Start and end of profiling. No failure here reaches the application."""
from __future__ import annotations

import os
# Those of collections.abc: every interpreter has them from its start.
from _collections_abc import Callable, Mapping, Sequence

from . import _exit, _fork, _logging, _reloader, _sigterm, _spawn, _threads
from ._binding import Error, load_error, native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What the session was started with, as the binding takes it, but for what
# cannot be told to another interpreter.
given: dict[str, Any] = {}
# Whether it was told so by the process that started this one.
_inherited = False
# Why the last start was refused.
_refusal: str | None = None


def required() -> bool:
    """Whether SPANPROF_REQUIRED=1: no start is an error of the application."""
    return os.environ.get("SPANPROF_REQUIRED", "") == "1"


def unavailable_reason() -> str | None:
    """Return in one sentence why this interpreter cannot be profiled, or why the
    last `start` was refused; None if no reason is known."""
    return load_error if native is None else native.unavailable_reason() or _refusal


def available() -> bool:
    """Whether no reason is known why this interpreter cannot be profiled."""
    return unavailable_reason() is None


def _refuse(sentence: str) -> bool:
    global _refusal
    if not running():
        _refusal = sentence
    if required():
        raise Error(sentence)
    goes_on = native is not None and native.running()
    what = "profiling goes on as before" if goes_on else "not profiled"
    _logging.log(_logging.ERROR, f"{what}: {sentence}")
    return False


def _native_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Their module brings in others, for which a start by the environment has no
    need."""
    if not options:
        return {}
    from ._options import native_options

    return native_options(options, [*(start.__kwdefaults__ or ())])


def _start(options: dict[str, Any]) -> bool:
    global given, _refusal
    for part in (_exit, _fork, _threads, _spawn, _sigterm):
        part.install()
    native.log_to(_logging.receive)
    started: bool = native.start(options)
    _refusal = None if started else "PYROSCOPE_AGENT_ENABLED has switched profiling off"
    if started:
        given = {name: value for name, value in options.items() if name != "on_profile"}
        _sigterm.arm()
    return started


def _sentence(error: Error, written: Mapping[str, str]) -> str:
    """What was refused, by the name that the caller wrote."""
    name, space, rest = str(error).partition(" ")
    return written.get(name, name) + space + rest


def start_with(options: dict[str, Any], written: Mapping[str, str]) -> bool:
    """As `start`; `written`: what the caller calls an option, by ours."""
    global _refusal
    if native is None:
        return _refuse(load_error or "")
    if _reloader.is_parent():
        _refusal = "the autoreloader is not profiled, its child is"
        _logging.say_once(_refusal, _logging.INFO)
        return False
    try:
        wanted = _native_options(options)
        if _inherited and wanted == given and native.running():
            return True
        return _start(wanted)
    except Error as error:
        return _refuse(_sentence(error, written))


def follow_threads() -> None:
    """What a session has of Python's threads and forks, for a profile without
    one."""
    for part in (_fork, _threads):
        part.install()


def inherit(options: dict[str, Any]) -> None:
    """Start as the process that starts this one was. The environment may have
    done so; a program that does it again gets no other session."""
    global _inherited
    if native is None:
        _refuse(load_error or "")
    elif options or not native.running():
        try:
            _inherited = _start(options)
        except Error as error:
            _refuse(str(error))


def start(
    *,
    application_name: str | None = None,
    labels: Mapping[str, object] | str | None = None,
    clean_label_names: bool | None = None,
    dotted_label_names: bool | None = None,
    resource_labels: Sequence[str] | str | None = None,
    sample_rate_hz: int | None = None,
    signal_number: int | None = None,
    native_frames: bool | None = None,
    full_native_stacks: bool | None = None,
    registered_threads_only: bool | None = None,
    stack_depth_max: int | None = None,
    window_max_bytes: int | None = None,
    report_pid: bool | None = None,
    report_thread_id: bool | None = None,
    report_thread_name: bool | None = None,
    line_numbers: str | None = None,
    server_address: str | None = None,
    basic_auth_user: str | None = None,
    basic_auth_password: str | None = None,
    auth_token: str | None = None,
    tenant_id: str | None = None,
    http_headers: Mapping[str, object] | str | None = None,
    ca_bundle: str | os.PathLike[str] | None = None,
    client_cert: str | os.PathLike[str] | None = None,
    client_key: str | os.PathLike[str] | None = None,
    proxy: str | None = None,
    no_proxy: Sequence[str] | str | None = None,
    upload_protocol: str | None = None,
    upload_interval_ms: int | None = None,
    queue_bytes: int | None = None,
    output_directory: str | os.PathLike[str] | None = None,
    output_max_bytes: int | None = None,
    output_max_age_s: int | None = None,
    spool_directory: str | os.PathLike[str] | None = None,
    spool_max_bytes: int | None = None,
    spool_max_age_s: int | None = None,
    span_names_max: int | None = None,
    label_values_max: int | None = None,
    log_level: str | None = None,
    flush_on_sigterm: bool | None = None,
    on_profile: Callable[[bytes, int, int], object] | None = None,
    **unknown: None,
) -> bool:
    """Profile this process and those it forks, until `stop` or its end.

    A running session is stopped first, so that options can be changed, but only
    once the new ones are known to be good. A wrong option is one record of the
    logger "spanprof", and the program goes on as it was: unprofiled, or with the
    session that ran.

    A value given here beats the environment variable of the same meaning, named
    below, which beats the default. None is "not given".

    Args:
        application_name: name of the service. PYROSCOPE_APPLICATION_NAME,
            OTEL_SERVICE_NAME, else that of the spans, else
            "unknown_service:EXECUTABLE".
        labels: labels of every profile, by name or as "name=value,name=value".
            PYROSCOPE_LABELS.
        clean_label_names: what may not be in a label's name becomes `_`, in
            place of a refusal; default False. PYROSCOPE_CLEAN_LABEL_NAMES.
        dotted_label_names: labels leave by the names they were given; by
            default (False) with `_` for each dot, since Grafana shows no other.
            PYROSCOPE_DOTTED_LABEL_NAMES.
        resource_labels: names of OTEL_RESOURCE_ATTRIBUTES that become labels: a
            list, or a text with commas. PYROSCOPE_RESOURCE_LABELS.
        sample_rate_hz: samples per second of CPU time and thread, 1..1000,
            default 100. PYROSCOPE_SAMPLE_RATE.
        signal_number: the signal to use; 0, the default, finds a free one.
            PYROSCOPE_SIGNAL.
        native_frames: show frames of C code; default True.
            PYROSCOPE_NATIVE_FRAMES.
        full_native_stacks: every native frame, also those that only started the
            interpreter, and each address without a name by itself; default
            False. PYROSCOPE_FULL_NATIVE_STACKS.
        registered_threads_only: no threads but those that register, by a label
            or span too; those of `threading` do so by themselves. Default
            False. PYROSCOPE_REGISTERED_THREADS_ONLY.
        stack_depth_max: frames of a stack, then "[truncated]"; 16..512, default
            512. PYROSCOPE_STACK_DEPTH_MAX.
        window_max_bytes: memory of a window, then "[too many stacks]"; default
            64 MiB. PYROSCOPE_WINDOW_MAX_BYTES.
        report_pid: label `pid` on every sample; default False.
            PYROSCOPE_REPORT_PID.
        report_thread_id: label `thread_id`, the kernel's number
            (`threading.get_native_id()`); default False.
            PYROSCOPE_REPORT_THREAD_ID.
        report_thread_name: label `thread_name`, as the kernel has it; default
            False. PYROSCOPE_REPORT_THREAD_NAME.
        line_numbers: the line a frame shows: "executed", the default; "first",
            where its function begins; "none".
        server_address: Pyroscope's URL, "http://pyroscope:4040"; without it
            nothing is sent. PYROSCOPE_SERVER_ADDRESS.
        basic_auth_user: user of basic auth. PYROSCOPE_BASIC_AUTH_USER.
        basic_auth_password: password of basic auth.
            PYROSCOPE_BASIC_AUTH_PASSWORD.
        auth_token: bearer token. PYROSCOPE_AUTH_TOKEN.
        tenant_id: header X-Scope-OrgID. PYROSCOPE_TENANT_ID.
        http_headers: more headers of every upload, by name or as "Name: value"
            lines. PYROSCOPE_HTTP_HEADERS.
        ca_bundle: PEM file of the authorities to trust. PYROSCOPE_CA_BUNDLE,
            SSL_CERT_FILE.
        client_cert: PEM file of the client's certificate.
            PYROSCOPE_CLIENT_CERT.
        client_key: PEM file of its key. PYROSCOPE_CLIENT_KEY.
        proxy: URL of a proxy; "" for none. PYROSCOPE_PROXY, HTTPS_PROXY,
            HTTP_PROXY, ALL_PROXY.
        no_proxy: hosts reached without it: a list, or a text with commas.
            PYROSCOPE_NO_PROXY, NO_PROXY.
        upload_protocol: "push", the default, or "ingest".
            PYROSCOPE_UPLOAD_PROTOCOL.
        upload_interval_ms: length of a profile's window, 100..3600000, default
            10000. PYROSCOPE_UPLOAD_INTERVAL, in seconds.
        queue_bytes: encoded profiles waiting in memory, default 8 MiB.
            PYROSCOPE_QUEUE_BYTES.
        output_directory: profiles are also written here.
            PYROSCOPE_OUTPUT_DIRECTORY.
        output_max_bytes: past it the oldest of them go; default 1 GiB.
            PYROSCOPE_OUTPUT_MAX_BYTES.
        output_max_age_s: how long they stay; default 7 days.
            PYROSCOPE_OUTPUT_MAX_AGE.
        spool_directory: what cannot be sent waits here.
            PYROSCOPE_SPOOL_DIRECTORY.
        spool_max_bytes: past it the oldest go; default 64 MiB.
            PYROSCOPE_SPOOL_MAX_BYTES.
        spool_max_age_s: how long it waits; default 2700.
            PYROSCOPE_SPOOL_MAX_AGE.
        span_names_max: distinct span names, then "[other]"; default 500.
            PYROSCOPE_SPAN_NAMES_MAX.
        label_values_max: distinct values of a label, then "[other]"; default
            1024. PYROSCOPE_LABEL_VALUES_MAX.
        log_level: the least of what is logged, by the logger "spanprof":
            "debug", "info" (default), "warn", "error" or "off".
            PYROSCOPE_LOG_LEVEL.
        flush_on_sigterm: hand on what there is before SIGTERM ends the process,
            where nobody handles it, within 2 s; default True.
            PYROSCOPE_FLUSH_ON_SIGTERM.
        on_profile: called with each profile (gzip-compressed pprof, start of its
            window in Unix ns, length in ns) on a thread of the library.
        **unknown: refused, each with the option that may have been meant.

    Returns:
        Whether profiling runs with these options.

    Raises:
        Error: it does not, and SPANPROF_REQUIRED=1.
    """
    options = {name: value for name, value in locals().items() if value is not None}
    options |= options.pop("unknown")
    return start_with(options, {})


def flush(timeout: float = 2.0) -> bool:
    """Send what was sampled up to now; other threads run meanwhile.

    Args:
        timeout: seconds to wait at most.

    Returns:
        Whether all was sent, written or spooled in time.
    """
    return native is not None and native.flush(_milliseconds(timeout))


def stop(timeout: float = 2.0) -> bool:
    """End profiling and send the rest; other threads run meanwhile.

    Args:
        timeout: seconds to wait at most; what is not sent by then is spooled
            where there is a spool, else lost and counted.

    Returns:
        Whether profiling ran and nothing was lost.
    """
    return native is not None and native.stop(_milliseconds(timeout))


def pause() -> bool:
    """Take no samples until `resume`; what was sampled before is sent as ever.

    A process that is forked meanwhile is paused too. Pausing twice is pausing
    once.

    Returns:
        Whether there is a session to pause.
    """
    return native is not None and native.pause()


def resume() -> bool:
    """Take samples again.

    Returns:
        Whether there is a session, paused or not.
    """
    return native is not None and native.resume()


def running() -> bool:
    """Whether there is a session in this process, paused or not."""
    return native is not None and native.running()


def _milliseconds(seconds: float) -> int:
    """Not a number is no time."""
    return int(min(seconds * 1000, 2**32 - 1)) if seconds > 0 else 0
