"""Constants of `configure`. Only the first of each has an effect."""
from __future__ import annotations

from enum import Enum


class LineNo(Enum):
    """Which line of a function a frame shows."""

    LastInstruction = 0
    First = 1
    NoLine = 2


class ProfilerImplementation(Enum):
    """The samplers of pyroscope-io."""

    PySpy = 0
    Stack = 1
