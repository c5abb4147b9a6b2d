"""The windows that a copy goes through: stretches of the file that fit the memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ._core import Layout
from ._errors import ArgumentError

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
        """How many elements it has."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class Cut:
    """How an array is cut: one index of all slower dimensions, `count` indices of `dimension`, all of faster ones."""

    shape: tuple[int, ...]
    slow: tuple[int, ...]
    """The dimensions slower than `dimension`, the slowest first."""
    dimension: int
    count: int

    def windows(self) -> Iterator[Window]:
        """The windows in the order of the file; none of an array without elements."""
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


def cut(shape: tuple[int, ...], order: str, itemsize: int, ranks: int, memory: int, make_layout: MakeLayout) -> Cut:
    """Choose the longest windows of which the ranks' parts fit `memory`, and that each of `ranks` has a part of.

    Raises plait.ArgumentError where not even one element fits.
    """
    dimensions = list(range(len(shape))) if order == "C" else list(reversed(range(len(shape))))
    if math.prod(shape) == 0 or not dimensions:
        return Cut(shape, (), 0, 1)
    found: Cut | None = None
    for position, dimension in enumerate(dimensions):
        slow, size = tuple(dimensions[:position]), shape[dimension]
        slab = math.prod(shape[d] for d in dimensions[position + 1 :]) * itemsize
        count = _longest(shape, slow, dimension, min(size, memory // max(slab, 1)), itemsize, memory, make_layout)
        if count == 0:
            continue
        if size > count > ranks:
            count -= count % ranks
        if found is None or (found.count < ranks and count > found.count):
            found = Cut(shape, slow, dimension, count)
        if found.count >= ranks or slab * size <= _SMALL:
            return found
    if found is None:
        raise ArgumentError(
            f"the memory for windows, {memory} bytes, holds no element of {itemsize} bytes; give more with memory="
        )
    return found


def _longest(
    shape: tuple[int, ...],
    slow: tuple[int, ...],
    dimension: int,
    count: int,
    itemsize: int,
    memory: int,
    make_layout: MakeLayout,
) -> int:
    """Return about how many indices fit, at most `count`; 0 where one does not."""
    while count > 0:
        window = [1 if d in slow else size for d, size in enumerate(shape)]
        window[dimension] = count
        layout = make_layout(tuple(window), dimension)
        if sum(math.prod(layout.padded_shape(rank)) for rank in layout.rank_numbers) * itemsize <= memory:
            break
        count //= 2
    return count
