"""The expected contents of the files of storm.py, and the check of the bytes that a read has returned.

While several ranks write the same bytes, each byte may be the old one or that of any of the writes. The check accepts
every order of writes that Plait permits, and no byte else.
"""

from collections.abc import Callable, Iterable

import numpy as np
from plan import Operation, expected_bytes


class Model:
    """The known content of one file: its size, and the bytes in some windows; all other bytes are zero."""

    def __init__(self, windows: list[tuple[int, int]]) -> None:
        self.end = 0
        self._parts = [(begin, np.zeros(count, np.uint8)) for begin, count in windows]

    def read(self, offset: int, count: int) -> np.ndarray:
        actual = np.zeros(count, np.uint8)
        for begin, part in self._parts:
            low, high = max(begin, offset), min(begin + part.size, offset + count)
            if low < high:
                actual[low - offset : high - offset] = part[low - begin : high - begin]
        return actual

    def write(self, offset: int, data: np.ndarray) -> None:
        """Stores the part of the data that lies in windows."""
        for begin, part in self._parts:
            low, high = max(begin, offset), min(begin + part.size, offset + data.size)
            if low < high:
                part[low - begin : high - begin] = data[low - offset : high - offset]

    def resize(self, end: int) -> None:
        for begin, part in self._parts:
            part[max(0, end - begin) :] = 0
        self.end = end


def overlapping_slice(operation: Operation, offset: int, count: int) -> slice:
    """Returns the part of the range [offset, offset + count) that an operation covers, relative to `offset`."""
    low, high = max(operation.offset, offset), min(operation.end, offset + count)
    return slice(low - offset, max(low, high) - offset)


def find_wrong_bytes(
    actual: np.ndarray,
    offset: int,
    old: np.ndarray,
    writes: Iterable[Operation],
    finished: list[Operation],
    may_be_visible: Callable[[Operation], bool] = lambda _: True,
) -> np.ndarray:
    """Returns the positions in `actual` whose byte no permitted order of the writes explains.

    actual          the bytes that a read at `offset` has returned
    old             the bytes before all these writes
    finished        the writes that were complete before the read began
    may_be_visible  returns whether the read may return bytes of a write

    A byte may be the old one if no finished write covers it. It may be that of any visible write, unless the same rank
    began another write of this byte after the first one was complete, and that one is finished.
    """
    is_right = actual == old
    for operation in finished:
        is_right[overlapping_slice(operation, offset, actual.size)] = False
    for operation in writes:
        covered = overlapping_slice(operation, offset, actual.size)
        if covered.start >= covered.stop or not may_be_visible(operation):
            continue
        explained = actual[covered] == expected_bytes(
            operation.tag, offset + covered.start, covered.stop - covered.start
        )
        for later in finished:
            if later.rank == operation.rank and operation.wait_event < later.begin_event:
                explained[overlapping_slice(later, offset + covered.start, explained.size)] = False
        is_right[covered] |= explained
    return np.flatnonzero(~is_right)


def join_ranges(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns the union of ranges (begin, end), as ascending ranges that do not touch."""
    result: list[tuple[int, int]] = []
    for begin, end in sorted(ranges):
        if result and begin <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        elif begin < end:
            result.append((begin, end))
    return result
