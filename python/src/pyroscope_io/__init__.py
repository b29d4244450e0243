"""Another name of the package `pyroscope`."""
from pyroscope import *  # noqa: F403
from pyroscope import __all__ as __all__
