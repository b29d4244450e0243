"""Starts and stops profiling. If that fails, the program gets no exception unless
SPANPROF_REQUIRED=1 is set."""
from __future__ import annotations

import os
# `_collections_abc` contains the classes of collections.abc. Every interpreter has
# imported it at its start, so that this import adds no module.
from _collections_abc import Callable, Mapping, Sequence

from . import _exit, _fork, _logging, _reloader, _sigterm, _spawn, _threads
from ._binding import Error, load_error, native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    _Function = TypeVar("_Function", bound=Callable[..., Any])

# The options of the session, as `native_options` returns them, without `on_profile`,
# which cannot be passed to another interpreter.
given: dict[str, Any] = {}
# Whether `given` comes from the parent process (see `inherit`).
_inherited = False
# Why the last start was refused, or None.
_refusal: str | None = None


def required() -> bool:
    """Whether SPANPROF_REQUIRED=1 is set, so that a start that fails raises an
    exception."""
    return os.environ.get("SPANPROF_REQUIRED", "") == "1"


def unavailable_reason() -> str | None:
    """Return the reason, in one sentence, if this interpreter cannot be profiled or the last
    `start` was refused; otherwise None."""
    return load_error if native is None else native.unavailable_reason() or _refusal


def available() -> bool:
    """Whether `unavailable_reason` returns None."""
    return unavailable_reason() is None


def _refuse(sentence: str) -> bool:
    global _refusal
    if not running():
        _refusal = sentence
    if required():
        raise Error(sentence)
    goes_on = native is not None and native.running()
    state = "profiling continues as before" if goes_on else "not profiled"
    _logging.log(_logging.ERROR, f"{state}: {sentence}")
    return False


def _native_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the options by the module `_options`. It is imported only if there are
    options, because it imports further modules, and a start by environment variables
    must import as few as possible."""
    if not options:
        return {}
    from ._options import native_options

    return native_options(options)


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
    """Return the sentence of an error. It begins with the name of an option, which is
    replaced by the keyword that the caller used."""
    name, space, sentence = str(error).partition(" ")
    return written.get(name, name) + space + sentence


def start_with(options: dict[str, Any], written: Mapping[str, str]) -> bool:
    """Like `start`. `written` maps names of options to the keywords that the caller
    used for them."""
    global _refusal
    if native is None:
        return _refuse(load_error or "")
    if _reloader.is_parent():
        _refusal = ("this process only restarts the program (autoreloader) and is not profiled; "
                    "its child is profiled")
        _logging.log_once(_refusal, _logging.INFO)
        return False
    try:
        requested = _native_options(options)
        if _inherited and requested == given and native.running():
            return True
        return _start(requested)
    except Error as error:
        return _refuse(_sentence(error, written))


def follow_threads() -> None:
    """Install the hooks that a profile without a session needs, too: those for new
    threads and for forks."""
    for part in (_fork, _threads):
        part.install()


def inherit(options: dict[str, Any]) -> None:
    """Start a session with the options of the parent process, even if environment
    variables have started one in this process. If the program later calls `start` with
    the same options, this session continues."""
    global _inherited
    if native is None:
        _refuse(load_error or "")
    elif options or not native.running():
        try:
            _inherited = _start(options)
        except Error as error:
            _refuse(str(error))


def _names_nearest(function: _Function) -> _Function:
    """Decorates `start`: for an unknown keyword, raise a TypeError that suggests the
    nearest known keyword, as CPython itself does from 3.13 on."""
    def call(*arguments: Any, **options: Any) -> Any:
        known = function.__kwdefaults__
        for name in options:
            if name not in known:
                near = None if native is None else native.nearest([name, *known])
                raise TypeError(f"{function.__name__}() got an unexpected keyword argument '{name}'"
                                + (f". Did you mean '{near}'?" if near else ""))
        return function(*arguments, **options)

    for name in ("__module__", "__name__", "__qualname__", "__doc__", "__annotations__"):
        setattr(call, name, getattr(function, name))
    call.__wrapped__ = function  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]


# tests/package/option_lists.py writes the keywords before line_numbers and their
# descriptions.
@_names_nearest
def start(
    *,
    application_name: str | None = None,
    labels: Mapping[str, object] | str | None = None,
    resource_labels: Sequence[str] | str | None = None,
    clean_label_names: bool | None = None,
    dotted_label_names: bool | None = None,
    sample_rate_hz: int | None = None,
    signal_number: int | None = None,
    native_frames: str | None = None,
    registered_threads_only: bool | None = None,
    stack_depth_max: int | None = None,
    window_max_bytes: int | None = None,
    report_pid: bool | None = None,
    report_thread_id: bool | None = None,
    report_thread_name: bool | None = None,
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
    line_numbers: str | None = None,
    on_profile: Callable[[bytes, int, int], object] | None = None,
) -> bool:
    """Profile this process and its forked children, until `stop` is called or the
    process exits.

    If a session runs, the new options are checked, the session is stopped, and a
    new one starts. A wrong option causes one record of the logger "spanprof" and
    changes nothing: the process stays unprofiled, or the running session continues.

    A keyword overrides its environment variable, which is named at the option
    below, and the variable overrides the default. None means unset.

    Args:
        application_name: Name of the service. If it is not given, the first of
            these names applies: `OTEL_SERVICE_NAME`, `service.name` of
            `OTEL_RESOURCE_ATTRIBUTES`, the name in the tracer's Resource; after
            30 s without a name, `unknown_service:EXECUTABLE`.
            PYROSCOPE_APPLICATION_NAME.
        labels: Labels of every profile, in the form `name=value,name=value`.
            PYROSCOPE_LABELS.
        resource_labels: Names of attributes in `OTEL_RESOURCE_ATTRIBUTES` that
            become labels, separated by commas; `service.namespace` always
            becomes a label. PYROSCOPE_RESOURCE_LABELS.
        clean_label_names: Replace each invalid character of a label name by
            `_`; without this option, an invalid name makes the start fail;
            default False. PYROSCOPE_CLEAN_LABEL_NAMES.
        dotted_label_names: Keep the dots of label names instead of replacing
            them by `_`; Grafana does not show names with dots; default False.
            PYROSCOPE_DOTTED_LABEL_NAMES.
        sample_rate_hz: Samples per second of CPU time of each thread; 1 to
            1000, default 100. PYROSCOPE_SAMPLE_RATE, PYROSCOPE_SAMPLING_RATE.
        signal_number: Number of the signal that the timers send; 0 selects a
            free real-time signal; default 0. PYROSCOPE_SIGNAL.
        native_frames: Native frames in stacks: `none`; `libraries`, native
            frames of all code except the interpreter itself, whose time belongs
            to the function that called it; or `all`, where each address without
            a name has its own frame; default libraries.
            PYROSCOPE_NATIVE_FRAMES.
        registered_threads_only: Profile only threads that registered, set a
            label or entered a span; threads of Python's `threading` register
            themselves; default False. PYROSCOPE_REGISTERED_THREADS_ONLY.
        stack_depth_max: Maximum number of frames of a stack; in a deeper stack,
            one frame `[truncated]` replaces the outer frames; 16 to 512,
            default 512. PYROSCOPE_STACK_DEPTH_MAX.
        window_max_bytes: Memory for the stacks, labels and names of one
            profile; when it is full, further stacks become `[too many stacks]`;
            at least 1 MiB, default 64 MiB. PYROSCOPE_WINDOW_MAX_BYTES.
        report_pid: Add the label `pid` to every sample; default False.
            PYROSCOPE_REPORT_PID.
        report_thread_id: Add the label `thread_id`, the kernel's number of the
            thread, to every sample; default False. PYROSCOPE_REPORT_THREAD_ID.
        report_thread_name: Add the label `thread_name`, the kernel's name of
            the thread, to every sample; default False.
            PYROSCOPE_REPORT_THREAD_NAME.
        server_address: URL of the Pyroscope server, such as
            `http://pyroscope:4040`; without a URL nothing is uploaded.
            PYROSCOPE_SERVER_ADDRESS.
        basic_auth_user: User name for basic authentication.
            PYROSCOPE_BASIC_AUTH_USER.
        basic_auth_password: Password for basic authentication.
            PYROSCOPE_BASIC_AUTH_PASSWORD.
        auth_token: Bearer token that is sent to the server.
            PYROSCOPE_AUTH_TOKEN.
        tenant_id: Tenant, which is sent to the server in the header
            `X-Scope-OrgID`. PYROSCOPE_TENANT_ID.
        http_headers: Headers to add to every upload, as lines `Name: value`, as
            `name=value,name=value` or as a JSON object. PYROSCOPE_HTTP_HEADERS.
        ca_bundle: PEM file with the certificate authorities to trust, instead
            of the authorities of the system. PYROSCOPE_CA_BUNDLE,
            SSL_CERT_FILE.
        client_cert: PEM file of the client's certificate.
            PYROSCOPE_CLIENT_CERT.
        client_key: PEM file of the private key of `client_cert`.
            PYROSCOPE_CLIENT_KEY.
        proxy: URL of the proxy, or "" for no proxy; if this option is not set,
            `HTTPS_PROXY`, `HTTP_PROXY` and `ALL_PROXY` are read.
            PYROSCOPE_PROXY.
        no_proxy: Hosts to reach without the proxy, separated by commas; if this
            option is not set, `NO_PROXY` is read. PYROSCOPE_NO_PROXY.
        upload_protocol: Protocol of uploads: `push` (the default) or `ingest`.
            PYROSCOPE_UPLOAD_PROTOCOL.
        upload_interval_ms: Time that one profile covers; 100 ms to 1 h, default
            10 s. PYROSCOPE_UPLOAD_INTERVAL.
        queue_bytes: Memory for encoded profiles that wait for their upload;
            when it is full, the oldest profiles move to the spool or are
            dropped; at least 64 KiB, default 8 MiB. PYROSCOPE_QUEUE_BYTES.
        output_directory: Directory to which every profile is also written as a
            pprof file. PYROSCOPE_OUTPUT_DIRECTORY.
        output_max_bytes: Size limit of `output_directory`; the oldest profiles
            are deleted first; at least 64 KiB, default 1 GiB.
            PYROSCOPE_OUTPUT_MAX_BYTES.
        output_max_age_s: Age at which a profile in `output_directory` is
            deleted; 1 s to 3650 days, default 7 days. PYROSCOPE_OUTPUT_MAX_AGE.
        spool_directory: Directory in which profiles wait while the server
            cannot be reached, also after the end of the process; without this
            directory they are dropped. PYROSCOPE_SPOOL_DIRECTORY.
        spool_max_bytes: Size limit of `spool_directory`; the oldest profiles
            are deleted first; at least 64 KiB, default 64 MiB.
            PYROSCOPE_SPOOL_MAX_BYTES.
        spool_max_age_s: Age at which a profile in `spool_directory` is deleted;
            1 s to 3650 days, default 45 min. PYROSCOPE_SPOOL_MAX_AGE.
        span_names_max: Maximum number of distinct span names; further names
            become `[other]`; 1 to 1000000, default 500.
            PYROSCOPE_SPAN_NAMES_MAX.
        label_values_max: Maximum number of distinct values of each label name;
            further values become `[other]`; 1 to 1000000, default 1024.
            PYROSCOPE_LABEL_VALUES_MAX.
        log_level: Least severe message to log: `debug`, `info`, `warn`, `error`
            or `off`; the default is `warn` on stderr, `info` with a logger.
            PYROSCOPE_LOG_LEVEL.
        flush_on_sigterm: Send the remaining samples before SIGTERM ends the
            process, if the program does not handle SIGTERM; the default is true
            in Python. PYROSCOPE_FLUSH_ON_SIGTERM.
        line_numbers: The line that a frame shows: "executed", the current line
            (the default); "first", the first line of its function; "none".
        on_profile: Function that is called with each profile (gzip-compressed
            pprof, start in Unix ns, duration in ns) on a thread of the library.

    Returns:
        Whether profiling runs with these options.

    Raises:
        Error: profiling did not start, and SPANPROF_REQUIRED=1.
        TypeError: a keyword is not the name of an option.
    """
    return start_with({name: value for name, value in locals().items() if value is not None}, {})


def flush(timeout: float = 10.0) -> bool:
    """Send all samples taken so far. Other threads run during the call.

    Args:
        timeout: maximum time to wait, in seconds.

    Returns:
        Whether all samples were sent, written or spooled in time.
    """
    return native is not None and native.flush(_milliseconds(timeout))


def stop(timeout: float = 2.0) -> bool:
    """Stop profiling and send the remaining samples. Other threads run during the call.

    Args:
        timeout: maximum time to wait, in seconds. Samples that are not sent by then
            go to the spool if there is one; otherwise they are lost and counted.

    Returns:
        Whether profiling ran and nothing was lost.
    """
    return native is not None and native.stop(_milliseconds(timeout))


def pause() -> bool:
    """Take no samples until `resume` is called. Samples taken before are still sent.

    A process that is forked during the pause is paused, too. One call of `resume` ends
    the pause, however often `pause` was called.

    Returns:
        Whether there is a session to pause.
    """
    return native is not None and native.pause()


def resume() -> bool:
    """Take samples again after `pause`.

    Returns:
        Whether there is a session, paused or not.
    """
    return native is not None and native.resume()


def running() -> bool:
    """Whether there is a session in this process, paused or not."""
    return native is not None and native.running()


def _milliseconds(seconds: float) -> int:
    """Convert seconds to milliseconds, limited to 32 bits. A negative number or NaN
    becomes 0."""
    return int(min(seconds * 1000, 2**32 - 1)) if seconds > 0 else 0
