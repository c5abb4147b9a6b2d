"""Makes arrays for results in recycled memory, that of earlier results without references, and limits that memory."""

from __future__ import annotations

import contextlib
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _core
from .._base.errors import ArgumentError
from .sizes import parse_bytes
from .values import Array
from .words import shown

_MAX_BYTES = 1 << 62
_MAX_RECYCLED_BYTES = 1 << 60  # no machine has more: np.empty raises a more specific error


def new_array(shape: Sequence[int], dtype: np.dtype[Any], order: str = "C") -> Array:
    """Make an uninitialised array for a result, in Fortran's order for "F": large ones in recycled memory."""
    size = math.prod(shape) * dtype.itemsize
    if _core.min_recycled <= size <= _MAX_RECYCLED_BYTES and not dtype.hasobject and dtype.subdtype is None:
        with contextlib.suppress(MemoryError):  # the error of NumPy is more specific
            return np.ndarray(tuple(shape), dtype, _core.recycled_bytes(size), order="F" if order == "F" else "C")
    return np.empty(tuple(shape), dtype, "F" if order == "F" else "C")


def set_recycled_memory(limit: int | str) -> int:
    """Set how many bytes of dropped results this process caches for its next ones, and return the former limit.

    limit  bytes, or a text such as ``"256M"``; 0 caches none

    A new array that Plait returns, of 2 MiB or more, uses memory that is cached for the next such array as soon as no
    reference to it exists: the system would clear fresh memory first, which takes as long as a copy. Cached memory
    above ``limit`` is released now. The system may reclaim cached memory whenever memory is short, but not its
    addresses: if these are limited (``RLIMIT_AS``, ``RLIMIT_DATA``), nothing is cached. The default is
    ``PLAIT_RECYCLED_MEMORY``, or a quarter of the machine's memory divided by its cores. Not collective; any thread.
    """
    byte_count = parse_bytes(limit, "limit")
    if isinstance(byte_count, (bool, np.bool_)) or not hasattr(byte_count, "__index__"):
        raise ArgumentError(
            f"limit={shown(byte_count)} is not a number of bytes; use one such as 268435456, or 0 for none"
        )
    number = operator.index(byte_count)
    if not 0 <= number <= _MAX_BYTES:
        raise ArgumentError(
            f"limit={number} bytes are too {'few' if number < 0 else 'many'}; use a number such as 268435456, or 0 for "
            "none"
        )
    return _core.set_max_recycled(number)
