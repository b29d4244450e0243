"""Constants of `configure`."""
from __future__ import annotations

from enum import Enum


class LineNo(Enum):
    """Which line of a function a frame shows: the one that runs, the one where
    the function begins, or none."""

    LastInstruction = 0
    First = 1
    NoLine = 2


class ProfilerImplementation(Enum):
    """The samplers of pyroscope-io. There is one here, whichever is given."""

    PySpy = 0
    Stack = 1
