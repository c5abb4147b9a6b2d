"""How much memory of results that were dropped waits for the next ones."""

from __future__ import annotations

import operator

import numpy as np

from . import _core
from ._arguments.sizes import bytes_of
from ._arguments.words import shown
from ._errors import ArgumentError

_MOST_BYTES = 1 << 62


def set_recycled_memory(most: int | str) -> int:
    """Set how many bytes of dropped results this process keeps for its next ones, and return how many it was.

    most  bytes, or a text such as ``"256M"``; 0 keeps none

    A new array that Plait returns, of 1 MiB or more, lies in memory that waits for the next such array once nothing
    refers to it any more: fresh memory would be cleared by the system first, which takes as long as a copy. What waits
    above ``most`` is released now. The system may take what waits whenever memory is short. By default
    ``PLAIT_RECYCLED_MEMORY``, or a quarter of the machine's memory divided by its cores. Not collective; any thread.
    """
    given = bytes_of(most, "most")
    if isinstance(given, (bool, np.bool_)) or not hasattr(given, "__index__"):
        raise ArgumentError(f"most={shown(given)} is not a number of bytes; use one such as 268435456, or 0 for none")
    number = operator.index(given)
    if not 0 <= number <= _MOST_BYTES:
        raise ArgumentError(
            f"most={number} bytes are too {'few' if number < 0 else 'many'}; use a number such as 268435456, or 0 for "
            "none"
        )
    return _core.set_most_recycled(number)
