"""The SpanProcessor: reports spans to spanprof and sets attributes of spans."""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from opentelemetry.sdk import trace

from .._binding import Error, native
from .._logging import ERROR, log
from . import _hook

if TYPE_CHECKING or native is not None:
    from .._native import SpanRules
else:  # without the extension, SpanProcessor is the SDK's, which does nothing
    class SpanRules:
        pass


class SpanProcessor(SpanRules, trace.SpanProcessor):
    """Adds the id and name of the active span to samples.

    The active span is the one in OpenTelemetry's current context, in threads, tasks,
    executors and greenlets. Spans whose ids are on samples get the attribute
    `pyroscope.profile.id`.

    A wrong value of an option causes one record of the logger "spanprof"; spans are
    not labelled then, and the program continues. `start` may be called before or
    after.

    Args:
        application_name: "rideshare.cpu", in URLs; default: the application's
            name. Also `app_name`.
        server_address: in URLs; default: that of `spanprof.start`. Also
            `pyroscope_endpoint`.
        root_span_only: True: samples have the id and name of the local root span,
            also in its children. False: those of the innermost sampled span.
        add_span_name: add the label `span_name`.
        add_url: set the attribute `pyroscope.profile.url`. "auto": only if the
            server of `spanprof.start` reports that it opens the link, or if there
            is a `url_template`.
        add_baseline_urls: set `pyroscope.profile.baseline.url` and
            `pyroscope.profile.diff.url`.
        baseline_labels: labels of the baseline's query, in addition to the
            profile's own; also as "name=value,name=value".
        add_trace_id: add the label `trace_id`. Pyroscope before 2.1 creates one
            series per value.
        legacy_span_label: use the label `span` instead of `span_name`, as the gem
            pyroscope-otel does.
        span_id_label: use the label `span_id` instead of `profile_id`; Pyroscope
            accepts both.
        url_template: replaces the classic URL. `{app}`, `{server}`, `{query}`,
            `{profile_id}`, `{trace_id}`, `{span_name}`, `{from}`, `{until}` (Unix
            s), `{from_ms}`, `{until_ms}` are replaced, percent-encoded; `{{` is a
            brace.
    """

    def __init__(self, *, application_name: str | None = None,
                 server_address: str | None = None,
                 root_span_only: bool = True, add_span_name: bool = True,
                 add_url: bool | Literal["auto"] = "auto", add_baseline_urls: bool = False,
                 baseline_labels: Mapping[str, str] | str | None = None,
                 add_trace_id: bool = False,
                 url_template: str | None = None,
                 legacy_span_label: bool = False, span_id_label: bool = False,
                 app_name: str | None = None,
                 pyroscope_endpoint: str | None = None) -> None:
        if native is None:
            return
        options = {
            "application_name": app_name if application_name is None else application_name,
            "server_address": pyroscope_endpoint if server_address is None else server_address,
            "root_span_only": root_span_only, "add_span_name": add_span_name,
            "add_url": add_url, "add_baseline_urls": add_baseline_urls,
            "baseline_labels": baseline_labels, "add_trace_id": add_trace_id,
            "url_template": url_template, "legacy_span_label": legacy_span_label,
            "span_id_label": span_id_label}
        try:
            super().__init__(**_checked(options))
        except (Error, ValueError) as error:  # ValueError: a NUL in a text
            log(ERROR, f"spans are not labelled: {error}")
        else:
            _hook.install()

    def shutdown(self) -> None:
        """Do nothing: samples of spans that are still open keep their labels."""

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        """Do nothing: spans wait for nothing, and `spanprof.flush` sends profiles.

        Returns:
            True.
        """
        return True


_URL_AUTO = 2  # SPANPROF_URL_AUTO
_TEXTS = ("application_name", "server_address", "url_template")


def _checked(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options with values that `SpanRules` accepts.

    Raises:
        Error: an option has a wrong type.
    """
    for name, value in options.items():
        if name == "baseline_labels":
            options[name] = _pairs(value)
        elif name in _TEXTS:
            if value is not None and not isinstance(value, str):
                raise Error(f"{name} must be a str, not {value!r}")
        elif name == "add_url" and value == "auto":
            options[name] = _URL_AUTO
        elif not isinstance(value, bool):
            raise Error(f"{name} must be True or False, not {value!r}")
    return options


def _pairs(labels: Mapping[str, str] | str | None) -> str | None:
    if labels is None or isinstance(labels, str):
        return labels
    if not isinstance(labels, Mapping) or not all(
            isinstance(text, str) for pair in labels.items() for text in pair):
        raise Error(f"baseline_labels must map str to str, not {labels!r}")
    if any("," in text for pair in labels.items() for text in pair):
        raise Error(f"baseline_labels cannot have a comma: {labels!r}")
    return ",".join(f"{name}={value}" for name, value in labels.items())
