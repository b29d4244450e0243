"""Reads the profiles of an ``output_directory`` into Python objects.

The field numbers are those of pprof's ``profile.proto``
(https://github.com/google/pprof/blob/main/proto/profile.proto).
"""

from __future__ import annotations

import gzip
import pathlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Frame:
    """One frame of a stack.

    Attributes:
        function: name of the function.
        file: its source file, "" if unknown.
        line: number of the executed line, 0 if unknown.
        start_line: number of the function's first line, 0 if unknown.
    """

    function: str
    file: str = ""
    line: int = 0
    start_line: int = 0


@dataclass(frozen=True)
class Sample:
    """One sample of a pprof file: the CPU time of one stack with one set of labels.

    Attributes:
        stack: frames, innermost first.
        value: CPU time in nanoseconds.
        labels: values by name: str for text labels, int for numeric ones.
    """

    stack: tuple[Frame, ...]
    value: int
    labels: dict[str, str | int]

    @property
    def functions(self) -> tuple[str, ...]:
        """The names of the functions on the stack, innermost first."""
        return tuple(frame.function for frame in self.stack)

    def runs(self, function: str) -> bool:
        """Whether a function of this name is on the stack."""
        return any(frame.function == function for frame in self.stack)


@dataclass
class Profile:
    """One file of an output directory.

    Attributes:
        samples: the samples.
        time_ns: start of the window, Unix time.
        duration_ns: length of the window.
        period: nanoseconds of CPU time between two samples.
        sample_types: (type, unit) of the values.
        comments: the profile's comments.
        path: the file.
    """

    samples: list[Sample] = field(default_factory=list)
    time_ns: int = 0
    duration_ns: int = 0
    period: int = 0
    sample_types: list[tuple[str, str]] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    path: pathlib.Path | None = None


class FormatError(ValueError):
    """The bytes are not a profile."""


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise FormatError("a number is cut")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        wire = tag & 7
        if wire == 0:
            value, at = _varint(data, at)
            yield tag >> 3, _signed(value)
        elif wire == 2:
            size, at = _varint(data, at)
            if at + size > len(data):
                raise FormatError("a field is cut")
            yield tag >> 3, data[at : at + size]
            at += size
        elif wire in (1, 5):
            at += 8 if wire == 1 else 4
        else:
            raise FormatError(f"wire type {wire}")


def _numbers(value: int | bytes) -> list[int]:
    """Decode a repeated number, packed or not."""
    if isinstance(value, int):
        return [value]
    out, at = [], 0
    while at < len(value):
        number, at = _varint(value, at)
        out.append(_signed(number))
    return out


def _message(value: int | bytes) -> dict[int, int | bytes]:
    """Decode a message that has no repeated fields."""
    if isinstance(value, int):
        raise FormatError("a message was expected")
    return dict(_fields(value))


def parse(data: bytes) -> Profile:
    """Parse a profile in uncompressed pprof bytes.

    Raises:
        FormatError: the bytes are not a profile.
    """
    profile = Profile()
    texts: list[str] = []
    raw: dict[int, list[int | bytes]] = {}
    for number, value in _fields(data):
        if number == 6:
            if isinstance(value, int):
                raise FormatError("a text was expected")
            texts.append(value.decode("utf-8"))
        else:
            raw.setdefault(number, []).append(value)

    def text(index: int | bytes) -> str:
        if not isinstance(index, int) or not 0 <= index < len(texts):
            raise FormatError(f"no text {index!r}")
        return texts[index]

    functions: dict[int | bytes, Frame] = {}
    for value in raw.get(5, []):
        known = _message(value)
        functions[known[1]] = Frame(
            text(known.get(2, 0)), text(known.get(4, 0)), 0, int(known.get(5, 0))
        )
    locations: dict[int, list[Frame]] = {}
    for value in raw.get(4, []):
        assert isinstance(value, bytes)
        number, lines = 0, []
        for key, item in _fields(value):
            if key == 1:
                number = int(item)
            elif key == 4:
                line = _message(item)
                base = functions[line[1]]
                lines.append(
                    Frame(base.function, base.file, int(line.get(2, 0)), base.start_line)
                )
        locations[number] = lines
    for value in raw.get(2, []):
        assert isinstance(value, bytes)
        stack: list[Frame] = []
        total = 0
        labels: dict[str, str | int] = {}
        for key, item in _fields(value):
            if key == 1:
                for location in _numbers(item):
                    stack.extend(locations[location])
            elif key == 2:
                total += _numbers(item)[0]
            elif key == 3:
                label = _message(item)
                labels[text(label[1])] = (
                    text(label[2]) if 2 in label else int(label.get(3, 0))
                )
        profile.samples.append(Sample(tuple(stack), total, labels))
    for value in raw.get(1, []):
        known = _message(value)
        profile.sample_types.append((text(known.get(1, 0)), text(known.get(2, 0))))
    profile.comments = [text(i) for value in raw.get(13, []) for i in _numbers(value)]
    profile.time_ns = int(raw.get(9, [0])[0])
    profile.duration_ns = int(raw.get(10, [0])[0])
    profile.period = int(raw.get(12, [0])[0])
    return profile


def read_file(path: str | pathlib.Path) -> Profile:
    """Read one ``.pb.gz`` file.

    Raises:
        FormatError: it does not contain a profile.
        OSError: it cannot be read.
    """
    profile = parse(gzip.decompress(pathlib.Path(path).read_bytes()))
    profile.path = pathlib.Path(path)
    return profile


def read_directory(directory: str | pathlib.Path) -> list[Profile]:
    """All profiles of an output directory, oldest first."""
    files = sorted(pathlib.Path(directory).glob("*.pb.gz"))
    return sorted((read_file(path) for path in files), key=lambda p: p.time_ns)


def read_samples(directory: str | pathlib.Path) -> list[Sample]:
    """The samples of all profiles of an output directory."""
    return [s for profile in read_directory(directory) for s in profile.samples]


def cpu_ns(samples: list[Sample], where: Callable[[Sample], bool]) -> int:
    """CPU time, in nanoseconds, of the samples for which ``where`` returns true."""
    return sum(sample.value for sample in samples if where(sample))


def ended_s(samples: list[Sample]) -> float:
    """CPU time, in seconds, that threads used between their last tick and their end.
    The profile contains this time under the name [thread end], not in a function."""
    return cpu_ns(samples, lambda sample: sample.functions == ("[thread end]",)) / 1e9
