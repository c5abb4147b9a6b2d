"""The windows of a copy whose elements are read or written in the order of the file.

Each window is contiguous in the file, or nearly so, and fits the memory.

A window has one index of each slow dimension, some indices of one dimension, which is cut, and all of the faster ones.

Example: an array of 10 x 1000 x 1000 bytes in C order, 4 ranks, and a memory of 300,000 bytes. No index of the first
dimension fits, because it has 1,000,000 bytes. 300 of 1000 indices of the second dimension fit, so a window has
1 x 300 x 1000 bytes, 75 rows for each rank.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .._base.errors import ArgumentError
from .._core import Content, Layout

_MIN_DISTRIBUTED_BYTES = 1 << 20  # it is not worth distributing fewer bytes over all ranks

MakeLayout = Callable[[tuple[int, ...], int], Layout]
"""Returns the layout of a window from its shape and the dimension that is cut."""


@dataclass(frozen=True)
class Window:
    """A part of the array."""

    region: tuple[slice, ...]
    shape: tuple[int, ...]

    @property
    def elements(self) -> int:
        """The number of elements of the window."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class Cut:
    """Windows of an array: one index of all slower dimensions, `count` indices of `dimension`, all of faster ones."""

    shape: tuple[int, ...]
    slow: tuple[int, ...]
    """The dimensions slower than `dimension`, the slowest first."""
    dimension: int
    count: int

    def windows(self) -> Iterator[Window]:
        """Yield the windows in the order of the file; an array without elements has none."""
        if math.prod(self.shape) == 0:
            return
        if not self.shape:
            yield Window((), ())
            return
        index = dict.fromkeys(self.slow, 0)
        while True:
            for first in range(0, self.shape[self.dimension], self.count):
                region = [slice(0, size) for size in self.shape]
                for dimension, position in index.items():
                    region[dimension] = slice(position, position + 1)
                region[self.dimension] = slice(first, min(first + self.count, self.shape[self.dimension]))
                yield Window(tuple(region), tuple(part.stop - part.start for part in region))
            for dimension in reversed(self.slow):
                index[dimension] += 1
                if index[dimension] < self.shape[dimension]:
                    break
                index[dimension] = 0
            else:
                return


def choose_cut(array: Content, ranks: int, memory: int, make_layout: MakeLayout) -> Cut:
    """Choose the longest windows whose parts, halos included, fit `memory`, and in which each of `ranks` has a part.

    If no window has a part for each rank, the windows with the most indices of one dimension are chosen.

    memory       the bytes for a window
    make_layout  returns the layout whose local arrays must fit

    errors  ArgumentError: not even one element fits
    """
    shape, itemsize, chunks = array.shape, array.type.element_bytes, array.chunks
    dimensions = list(range(len(shape))) if array.order == "C" else list(reversed(range(len(shape))))
    if math.prod(shape) == 0 or not dimensions:
        return Cut(shape, (), 0, 1)
    best: Cut | None = None
    for position, dimension in enumerate(dimensions):
        slow, size = tuple(dimensions[:position]), shape[dimension]
        slab = math.prod(shape[d] for d in dimensions[position + 1 :]) * itemsize
        longest = Cut(shape, slow, dimension, min(size, memory // max(slab, 1)))
        count = _fit_count(longest, memory // itemsize, make_layout)
        if count == 0:
            continue
        if size > count > ranks:
            count -= count % ranks
        if best is None or (best.count < ranks and count > best.count):
            best = Cut(shape, slow, dimension, count)
        if best.count >= ranks or slab * size <= _MIN_DISTRIBUTED_BYTES:
            return _shorten_to_whole_chunks(best, chunks)
    if best is None:
        raise ArgumentError(
            f"the memory for windows, {memory} bytes, holds no element of {itemsize} bytes; give more with memory="
        )
    return _shorten_to_whole_chunks(best, chunks)


def _shorten_to_whole_chunks(cut_windows: Cut, chunks: tuple[int, ...] | None) -> Cut:
    """Shorten windows of a chunk or more to whole chunks, so that fewer chunks extend over two windows."""
    if not chunks or chunks[cut_windows.dimension] >= cut_windows.count:
        return cut_windows
    return Cut(
        cut_windows.shape,
        cut_windows.slow,
        cut_windows.dimension,
        cut_windows.count - cut_windows.count % chunks[cut_windows.dimension],
    )


def _fit_count(limit: Cut, elements: int, make_layout: MakeLayout) -> int:
    """Return the count of `limit`, halved until the parts of all ranks fit `elements`; 0 if one index does not fit."""
    count = limit.count
    while count > 0:
        window = [1 if d in limit.slow else size for d, size in enumerate(limit.shape)]
        window[limit.dimension] = count
        layout = make_layout(tuple(window), limit.dimension)
        if sum(math.prod(layout.padded_shape(rank)) for rank in layout.rank_numbers) <= elements:
            break
        count //= 2
    return count
