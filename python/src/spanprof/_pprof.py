"""Profiles of pprof's format put together: each part of what one block did has
tables of its own, by whose numbers its samples speak.

https://github.com/google/pprof/blob/main/proto/profile.proto, commit c0fb62ec88c4."""
from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence

# Fields of Profile.
_SAMPLE_TYPE, _SAMPLE, _MAPPING, _LOCATION, _FUNCTION, _STRING_TABLE = 1, 2, 3, 4, 5, 6
_TIME_NS, _DURATION_NS = 9, 10
_TABLES = (_MAPPING, _LOCATION, _FUNCTION)  # of messages whose field 1 is their number
# By message, the fields that are numbers of a table, or messages with such in them.
_WITHIN = ("label", "line")
_STRING = "string"
_NUMBERS: dict[object, dict[int, object]] = {
    _SAMPLE: {1: _LOCATION, 3: "label"},
    "label": {1: _STRING, 2: _STRING, 4: _STRING},
    _MAPPING: {1: _MAPPING, 5: _STRING, 6: _STRING},
    _LOCATION: {1: _LOCATION, 2: _MAPPING, 4: "line"},
    "line": {1: _FUNCTION},
    _FUNCTION: {1: _FUNCTION, 2: _STRING, 3: _STRING, 4: _STRING},
}
_VARINT, _BYTES = 0, 2
_Offsets = dict[object, int]


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Number and value; the format has numbers and bytes alone."""
    at = 0
    while at < len(data):
        tag, at = _read_varint(data, at)
        value, at = _read_varint(data, at)
        if tag & 7 == _BYTES:
            at += value
            yield tag >> 3, data[at - value:at]
        else:
            yield tag >> 3, value


def _field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3 | _VARINT) + _varint(value)
    return _varint(number << 3 | _BYTES) + _varint(len(value)) + value


def _moved_number(value: int, offset: int) -> int:
    return value + offset if value else 0  # 0: none, and the empty string


def _moved(value: int | bytes, what: object, offsets: _Offsets) -> int | bytes:
    """A field's value with each number moved on by the offset of its table: a
    number, a message with such, or packed numbers."""
    if isinstance(value, int):
        return _moved_number(value, offsets[what])
    if what in _WITHIN:
        return _message(value, what, offsets)
    at, packed = 0, bytearray()
    while at < len(value):
        number, at = _read_varint(value, at)
        packed += _varint(_moved_number(number, offsets[what]))
    return bytes(packed)


def _message(data: bytes, kind: object, offsets: _Offsets) -> bytes:
    numbers = _NUMBERS[kind]
    return b"".join(
        _field(number, _moved(value, numbers[number], offsets) if number in numbers else value)
        for number, value in _fields(data))


def _highest(top: list[tuple[int, int | bytes]], table: int) -> int:
    """The highest number that an entry of a table has."""
    return max((int(dict(_fields(value)).get(1, 0)) for number, value in top
                if number == table and isinstance(value, bytes)), default=0)


def _number(top: list[tuple[int, int | bytes]], number: int) -> int:
    return next((value for key, value in top if key == number and isinstance(value, int)), 0)


def merged(parts: Sequence[bytes]) -> bytes:
    """Return one gzip-compressed profile with the samples of all; each is one, of
    the same types."""
    if len(parts) == 1:
        return parts[0]
    profiles = [list(_fields(gzip.decompress(part))) for part in parts]
    begin = min(_number(top, _TIME_NS) for top in profiles)
    end = max(_number(top, _TIME_NS) + _number(top, _DURATION_NS) for top in profiles)
    out = bytearray(_field(_TIME_NS, begin) + _field(_DURATION_NS, end - begin))
    offsets: _Offsets = {table: 0 for table in (*_TABLES, _STRING)}
    for top in profiles:
        for number, value in top:
            if number in (_SAMPLE, *_TABLES) and isinstance(value, bytes):
                out += _field(number, _message(value, number, offsets))
            elif number == _STRING_TABLE:
                if value or not offsets[_STRING]:  # the empty string is there once
                    out += _field(number, value)
            elif top is profiles[0] and number not in (_TIME_NS, _DURATION_NS):
                out += _field(number, value)
        for table in _TABLES:
            offsets[table] += _highest(top, table)
        offsets[_STRING] += sum(number == _STRING_TABLE for number, _ in top) - 1
    return gzip.compress(bytes(out))
