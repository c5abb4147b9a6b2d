"""The windows of a copy: stretches of the file that fit the memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .._base.errors import ArgumentError
from .._core import Content, Layout

_SMALL = 1 << 20  # bytes that are not worth distributing over all ranks

MakeLayout = Callable[[tuple[int, ...], int], Layout]
"""Called with the shape of a window and the dimension that is cut: how the ranks hold the window."""


@dataclass(frozen=True)
class Window:
    """A part of the array."""

    region: tuple[slice, ...]
    shape: tuple[int, ...]

    @property
    def elements(self) -> int:
        """The number of its elements."""
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
                for dimension, at in index.items():
                    region[dimension] = slice(at, at + 1)
                region[self.dimension] = slice(first, min(first + self.count, self.shape[self.dimension]))
                yield Window(tuple(region), tuple(part.stop - part.start for part in region))
            for dimension in reversed(self.slow):
                index[dimension] += 1
                if index[dimension] < self.shape[dimension]:
                    break
                index[dimension] = 0
            else:
                return


def cut(array: Content, ranks: int, memory: int, make_layout: MakeLayout) -> Cut:
    """Choose the longest windows of which the ranks' parts fit `memory`, and that each of `ranks` has a part of.

    Raises plait.ArgumentError where not even one element fits.
    """
    shape, itemsize, chunks = array.shape, array.type.element_bytes, array.chunks
    dimensions = list(range(len(shape))) if array.order == "C" else list(reversed(range(len(shape))))
    if math.prod(shape) == 0 or not dimensions:
        return Cut(shape, (), 0, 1)
    found: Cut | None = None
    for position, dimension in enumerate(dimensions):
        slow, size = tuple(dimensions[:position]), shape[dimension]
        slab = math.prod(shape[d] for d in dimensions[position + 1 :]) * itemsize
        most = Cut(shape, slow, dimension, min(size, memory // max(slab, 1)))
        count = _longest(most, memory // itemsize, make_layout)
        if count == 0:
            continue
        if size > count > ranks:
            count -= count % ranks
        if found is None or (found.count < ranks and count > found.count):
            found = Cut(shape, slow, dimension, count)
        if found.count >= ranks or slab * size <= _SMALL:
            return _of_whole_chunks(found, chunks)
    if found is None:
        raise ArgumentError(
            f"the memory for windows, {memory} bytes, holds no element of {itemsize} bytes; give more with memory="
        )
    return _of_whole_chunks(found, chunks)


def _of_whole_chunks(found: Cut, chunks: tuple[int, ...] | None) -> Cut:
    """Shorten windows to whole chunks where they have one at least, so that fewer chunks are in two windows."""
    if not chunks or chunks[found.dimension] >= found.count:
        return found
    return Cut(found.shape, found.slow, found.dimension, found.count - found.count % chunks[found.dimension])


def _longest(most: Cut, elements: int, make_layout: MakeLayout) -> int:
    """Return about how many indices fit a memory of `elements`, at most those of `most`; 0 where one does not."""
    count = most.count
    while count > 0:
        window = [1 if d in most.slow else size for d, size in enumerate(most.shape)]
        window[most.dimension] = count
        layout = make_layout(tuple(window), most.dimension)
        if sum(math.prod(layout.padded_shape(rank)) for rank in layout.rank_numbers) <= elements:
            break
        count //= 2
    return count
