"""What the files may hold: after a phase, and while it lasts."""

from collections.abc import Callable, Iterable

import numpy as np
from plan import Operation, expected_bytes


class Model:
    """One file: the bytes of its windows, zero elsewhere, and where it ends."""

    def __init__(self, windows: list[tuple[int, int]]) -> None:
        self.end = 0
        self._parts = [(begin, np.zeros(count, np.uint8)) for begin, count in windows]

    def read(self, offset: int, count: int) -> np.ndarray:
        found = np.zeros(count, np.uint8)
        for begin, part in self._parts:
            low, high = max(begin, offset), min(begin + part.size, offset + count)
            if low < high:
                found[low - offset : high - offset] = part[low - begin : high - begin]
        return found

    def write(self, offset: int, data: np.ndarray) -> None:
        """Takes what was found, inside of windows."""
        for begin, part in self._parts:
            low, high = max(begin, offset), min(begin + part.size, offset + data.size)
            if low < high:
                part[low - begin : high - begin] = data[low - offset : high - offset]

    def resize(self, end: int) -> None:
        for begin, part in self._parts:
            part[max(0, end - begin) :] = 0
        self.end = end


def overlap(operation: Operation, offset: int, count: int) -> slice:
    """The offsets of a range that an operation covers."""
    low, high = max(operation.offset, offset), min(operation.end, offset + count)
    return slice(low - offset, max(low, high) - offset)


def wrong_bytes(
    found: np.ndarray,
    offset: int,
    old: np.ndarray,
    writes: Iterable[Operation],
    finished: list[Operation],
    could: Callable[[Operation], bool] = lambda _: True,
) -> np.ndarray:
    """The offsets whose byte no allowed order of the writes explains.

    A byte may be the old one, unless a write covers it that is in `finished`: complete before the read began.  It may
    be that of any write that `could` be seen, unless a finished one of the same rank, begun after it had been waited
    for, covers it.
    """
    right = found == old
    for operation in finished:
        right[overlap(operation, offset, found.size)] = False
    for operation in writes:
        seen = overlap(operation, offset, found.size)
        if seen.start >= seen.stop or not could(operation):
            continue
        same = found[seen] == expected_bytes(operation.tag, offset + seen.start, seen.stop - seen.start)
        for later in finished:
            if later.rank == operation.rank and operation.wait_event < later.begin_event:
                same[overlap(later, offset + seen.start, same.size)] = False
        right[seen] |= same
    return np.flatnonzero(~right)


def join_ranges(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same bytes as ranges that do not touch."""
    result: list[tuple[int, int]] = []
    for begin, end in sorted(ranges):
        if result and begin <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        elif begin < end:
            result.append((begin, end))
    return result
