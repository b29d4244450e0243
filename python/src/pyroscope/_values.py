"""Constants of `configure`."""
from __future__ import annotations

from enum import Enum


class LineNo(Enum):
    """The line that a frame shows: the current one, the first one of the function, or
    none."""

    LastInstruction = 0
    First = 1
    NoLine = 2


class ProfilerImplementation(Enum):
    """The samplers of pyroscope-io. spanprof has one sampler, whichever is given."""

    PySpy = 0
    Stack = 1
