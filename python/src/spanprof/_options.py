"""The options of `start`, and what becomes of them on their way to C."""
from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any, TypedDict

from ._binding import Error

LOG_LEVELS = ("debug", "info", "warn", "error", "off")
LINE_NUMBERS = ("executed", "first", "none")


class Options(TypedDict, total=False):
    """What to profile and where to send it; None is "not given".

    A value given here beats the environment variable of the same meaning, which
    beats the default.
    """

    application_name: str | None
    """Name of the service. PYROSCOPE_APPLICATION_NAME, OTEL_SERVICE_NAME, else
    that of the spans, else "unknown_service:EXECUTABLE"."""
    labels: Mapping[str, str] | str | None
    """Labels of every profile, also as "name=value,name=value".
    PYROSCOPE_LABELS."""
    clean_label_names: bool | None
    """What may not be in a label's name becomes `_`, in place of a refusal.
    PYROSCOPE_CLEAN_LABEL_NAMES; False."""
    dotted_label_names: bool | None
    """Labels leave by the names they were given; else with `_` for each dot,
    since Grafana shows no other. PYROSCOPE_DOTTED_LABEL_NAMES; False."""
    resource_labels: str | None
    """Names, separated by commas, of OTEL_RESOURCE_ATTRIBUTES that become
    labels. PYROSCOPE_RESOURCE_LABELS."""
    sample_rate_hz: int | None
    """Samples per second of CPU time and thread, 1..1000, default 100.
    PYROSCOPE_SAMPLE_RATE."""
    signal_number: int | None
    """The signal to use; 0, the default, finds a free one. PYROSCOPE_SIGNAL."""
    native_frames: bool | None
    """Frames of C code, default True. PYROSCOPE_NATIVE_FRAMES."""
    report_pid: bool | None
    """Label `pid` on every sample, default False. PYROSCOPE_REPORT_PID."""
    report_thread_id: bool | None
    """Label `thread_id`, the kernel's number (`threading.get_native_id()`),
    default False. PYROSCOPE_REPORT_THREAD_ID."""
    report_thread_name: bool | None
    """Label `thread_name`, as the kernel has it, default False.
    PYROSCOPE_REPORT_THREAD_NAME."""
    line_numbers: str | None
    """The line a frame shows: "executed", the default; "first", where its
    function begins; "none"."""
    server_address: str | None
    """"http://pyroscope:4040". PYROSCOPE_SERVER_ADDRESS."""
    basic_auth_user: str | None
    """PYROSCOPE_BASIC_AUTH_USER."""
    basic_auth_password: str | None
    """PYROSCOPE_BASIC_AUTH_PASSWORD."""
    auth_token: str | None
    """Bearer token. PYROSCOPE_AUTH_TOKEN."""
    tenant_id: str | None
    """Header X-Scope-OrgID. PYROSCOPE_TENANT_ID."""
    http_headers: Mapping[str, str] | str | None
    """More headers, also as "Name: value" lines. PYROSCOPE_HTTP_HEADERS."""
    ca_bundle: str | os.PathLike[str] | None
    """PEM file. PYROSCOPE_CA_BUNDLE, SSL_CERT_FILE."""
    client_cert: str | os.PathLike[str] | None
    """PEM file. PYROSCOPE_CLIENT_CERT."""
    client_key: str | os.PathLike[str] | None
    """PEM file. PYROSCOPE_CLIENT_KEY."""
    proxy: str | None
    """"http://proxy:3128"; "" for none. PYROSCOPE_PROXY, HTTPS_PROXY, ..."""
    no_proxy: str | None
    """PYROSCOPE_NO_PROXY, NO_PROXY."""
    upload_protocol: str | None
    """"push", the default, or "ingest". PYROSCOPE_UPLOAD_PROTOCOL."""
    upload_interval_ms: int | None
    """Length of a profile's window, 100..3600000, default 10000.
    PYROSCOPE_UPLOAD_INTERVAL, in seconds."""
    queue_bytes: int | None
    """Encoded profiles waiting in memory, default 8 MiB.
    PYROSCOPE_QUEUE_BYTES."""
    output_directory: str | os.PathLike[str] | None
    """Profiles are also written here. PYROSCOPE_OUTPUT_DIRECTORY."""
    output_max_bytes: int | None
    """Default 1 GiB. PYROSCOPE_OUTPUT_MAX_BYTES."""
    output_max_age_s: int | None
    """Default 7 days. PYROSCOPE_OUTPUT_MAX_AGE."""
    spool_directory: str | os.PathLike[str] | None
    """What cannot be sent waits here. PYROSCOPE_SPOOL_DIRECTORY."""
    spool_max_bytes: int | None
    """Default 64 MiB. PYROSCOPE_SPOOL_MAX_BYTES."""
    spool_max_age_s: int | None
    """Default 2700. PYROSCOPE_SPOOL_MAX_AGE."""
    span_names_max: int | None
    """Distinct span names, default 500. PYROSCOPE_SPAN_NAMES_MAX."""
    label_values_max: int | None
    """Distinct values of a label, default 1024. PYROSCOPE_LABEL_VALUES_MAX."""
    log_level: str | None
    """"debug", "info" (default), "warn", "error" or "off": what reaches the
    logger "spanprof". PYROSCOPE_LOG_LEVEL."""
    flush_on_sigterm: bool | None
    """SIGTERM, where nobody handles it, hands on what there is before it ends the
    process, within 2 s, default True. PYROSCOPE_FLUSH_ON_SIGTERM."""
    on_profile: Callable[[bytes, int, int], object] | None
    """Called with each profile (gzip-compressed pprof, start of its window in
    Unix ns, length in ns) on a thread of the library."""


_CHOICES = {"line_numbers": LINE_NUMBERS, "log_level": LOG_LEVELS}


def _chosen(name: str, value: object) -> int:
    choices = _CHOICES[name]
    if value not in choices:
        raise Error(f"{name} is {value!r}, not one of {', '.join(choices)}")
    return choices.index(value)


def native_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return `options` as the binding takes them.

    Raises:
        Error: a sentence that names the option.
    """
    given = {name: value for name, value in options.items() if value is not None}
    if isinstance(given.get("labels"), Mapping):
        given["label_pairs"] = {
            str(name): "" if value is None else str(value)
            for name, value in given.pop("labels").items()}
    if isinstance(given.get("http_headers"), Mapping):
        given["http_headers"] = json.dumps(
            {str(name): str(value) for name, value in given["http_headers"].items()})
    for name in _CHOICES.keys() & given.keys():
        given[name] = _chosen(name, given[name])
    return given
