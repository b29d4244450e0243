"""Converts the options of `start` to the types that the binding accepts."""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ._binding import Error

_LINE_NUMBERS = ("executed", "first", "none")


def _type_error(name: str, expected: str, value: object) -> Error:
    return Error(f"{name} must be {expected}, not {type(value).__name__}")


def _line_numbers(name: str, value: object) -> int:
    if value not in _LINE_NUMBERS:
        raise Error(f"{name} is {value!r}, not one of {', '.join(_LINE_NUMBERS)}")
    return _LINE_NUMBERS.index(value)


def _plain(value: object) -> object:
    """Return an equal str or int whose class is not a subclass of the program. Child
    processes unpickle the options before they can import the program's classes."""
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
    """Convert the keys and values of a mapping to str. A str stays as it is."""
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
            raise Error(f"{name} has the entry {item!r}, but an entry cannot contain a comma")
    return ",".join(value)


# tests/package/option_lists.py writes all but the last line.
_CONVERTED: dict[str, Callable[[str, object], object]] = {
    "labels": _mapping, "resource_labels": _list, "http_headers": _mapping, "ca_bundle": _path,
    "client_cert": _path, "client_key": _path, "no_proxy": _list, "output_directory": _path,
    "spool_directory": _path,
    "line_numbers": _line_numbers, "on_profile": _callable,
}


def _converted(name: str, value: object) -> object:
    """Convert the value of the option `name`. If a method of the value raises an
    exception, raise an Error that says so."""
    convert = _CONVERTED.get(name)
    try:
        return convert(name, value) if convert else _plain(value)
    except Error:
        raise
    except Exception as error:
        raise Error(f"{name} has a value that cannot be read: "
                    f"{type(error).__name__} was raised") from error


def native_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with values that the binding accepts. No value may be None.

    Raises:
        Error: a sentence that begins with the option's name.
    """
    return {name: _converted(name, value) for name, value in options.items()}
