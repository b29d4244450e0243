"""What becomes of the options of `start` on their way to C."""
from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ._binding import Error

_CHOICES = {
    "line_numbers": ("executed", "first", "none"),
    "log_level": ("debug", "info", "warn", "error", "off"),
}


def _type_error(name: str, wanted: str, value: object) -> Error:
    return Error(f"{name} must be {wanted}, not {type(value).__name__}")


def _choice(name: str, value: object) -> int:
    choices = _CHOICES[name]
    if value not in choices:
        raise Error(f"{name} is {value!r}, not one of {', '.join(choices)}")
    return choices.index(value)


def _plain(value: object) -> object:
    """The same without the program's classes: processes that this one starts are
    told before they can import them."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return int.__int__(value)
    return value


def _path(_: str, value: object) -> object:
    return _plain(os.fspath(value) if isinstance(value, os.PathLike) else value)


def _callable(name: str, value: object) -> object:
    if not callable(value):
        raise _type_error(name, "callable", value)
    return value


def _text(item: object) -> str:
    return "" if item is None else str.__str__(str(item))


def _mapping(name: str, value: object) -> dict[str, str] | str:
    """A mapping with texts for what it has; a text as it is."""
    if isinstance(value, str):
        return str.__str__(value)
    if not isinstance(value, Mapping):
        raise _type_error(name, "text or a mapping", value)
    return {str.__str__(str(key)): _text(item) for key, item in value.items()}


def _list(name: str, value: object) -> str:
    if isinstance(value, str):
        return str.__str__(value)
    if not isinstance(value, Sequence) or isinstance(value, (bytes, bytearray)):
        raise _type_error(name, "text or a list", value)
    for item in value:
        if not isinstance(item, str):
            raise _type_error(name, "a list of texts", item)
        if "," in item:
            raise Error(f"{name} has {item!r} in its list, where no text may have a comma")
    return ",".join(value)


# Without the last line, written by tests/package/option_lists.py.
_CONVERTED: dict[str, Callable[[str, object], object]] = {
    "labels": _mapping, "resource_labels": _list, "http_headers": _mapping, "ca_bundle": _path,
    "client_cert": _path, "client_key": _path, "no_proxy": _list, "output_directory": _path,
    "spool_directory": _path, "log_level": _choice,
    "line_numbers": _choice, "on_profile": _callable,
}


def _converted(name: str, value: object) -> object:
    """Whatever methods of the program's classes do, who starts gets a sentence."""
    convert = _CONVERTED.get(name)
    try:
        return convert(name, value) if convert else _plain(value)
    except Error:
        raise
    except Exception as error:
        raise Error(f"{name} has a value that cannot be read: "
                    f"{type(error).__name__} was raised") from error


def native_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return `options`, whose values are not None, as the binding takes them.

    Raises:
        Error: a sentence that begins with the option.
    """
    given = {name: _converted(name, value) for name, value in options.items()}
    if isinstance(given.get("http_headers"), dict):
        given["http_headers"] = json.dumps(given["http_headers"])
    return given
