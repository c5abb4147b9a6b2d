"""The content of the files of `plait bench patterns`, and its checks.

Each element encodes its position in the file. Requests through a shared file position do not know their offset in
advance; the elements that they return state it, so that these requests can be checked as well.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

import plait
from plait.patterns import Access, Pattern
from plait_bench.patterns.job import ELEMENT

DTYPE = np.dtype(np.uint64)

Part = npt.NDArray[Any]

_FACTOR = 0x9E3779B97F4A7C15  # odd, so that multiplication modulo 2^64 has an inverse
_INVERSE = pow(_FACTOR, -1, 1 << 64)
_CHUNK = 1 << 21  # elements written at a time


def content(begin: int, count: int, salt: int = 0) -> Part:
    """Return elements of a file, from `begin`; another salt changes all of them."""
    positions = np.arange(begin, begin + count, dtype=np.uint64)
    return positions * np.uint64(_FACTOR) + np.uint64(salt)


def decode_positions(part: Part, salt: int = 0) -> Part:
    """Return the positions that elements encode."""
    return (part - np.uint64(salt)) * np.uint64(_INVERSE)


def make_file(url: str, size: int) -> None:
    """Write a file of `size` bytes, in this process."""
    elements = size // ELEMENT
    with plait.open(url, "w", shape=(elements,), dtype=DTYPE) as file:
        for begin in range(0, elements, _CHUNK):
            count = min(_CHUNK, elements - begin)
            file.write(content(begin, count), region=np.s_[begin : begin + count])


class ReadCheck:
    """Checks the elements that one rank reads."""

    def __init__(self, shared: bool) -> None:
        """`shared` is True if the position of a request is known only from the elements that it has read."""
        self._shared = shared
        self.correct = True
        self.stretches: list[tuple[int, int]] = []

    def receive(self, access: Access, part: Part) -> None:
        """Check the elements of one request."""
        begin = int(decode_positions(part[:1])[0]) if self._shared else access.offset
        self.stretches.append((begin, begin + len(part)))
        fits = begin < 1 << 62 and np.array_equal(part, content(begin, len(part)))
        self.correct = self.correct and fits and len(part) == access.count


def covers_each_element_once(stretches: list[tuple[int, int]], elements: int) -> bool:
    """Return True if the stretches that all ranks have read cover the whole file, each element exactly once."""
    ordered = [(0, 0), *sorted(stretches), (elements, elements)]
    return all(left[1] == right[0] for left, right in pairwise(ordered))


def fill(salt: int, access: Access, part: Part) -> None:
    """Fill an array with the elements that a request writes; they encode their position in the pattern."""
    part[...] = content(access.offset, len(part), salt)


def has_written_elements(pattern: Pattern, mode: int, before: Part, after: Part, salt: int) -> bool:
    """Return True if a file has the elements that all ranks should have written, and is unchanged elsewhere."""
    requests = (access for rank in range(pattern.ranks) for access in pattern.requests(rank))
    if mode != 1:
        expected = before.copy()
        for access in requests:
            fill(salt, access, expected[access.offset : access.offset + access.count])
        return bool(np.array_equal(after, expected))
    # In mode 1 the ranks share one file position, so that the file has the requests in order of arrival.  It is correct
    # if every position occurs once, and if each stretch of consecutive positions begins where some request begins, so
    # that no request was torn.
    positions = decode_positions(after, salt).astype(np.int64)
    starts = np.flatnonzero(np.diff(positions, prepend=-2) != 1)
    begins = np.isin(positions[starts], [access.offset for access in requests])
    return bool(np.array_equal(np.sort(positions), np.arange(pattern.elements)) and begins.all())
