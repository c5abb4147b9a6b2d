"""Chooses the shape of chunks by their size in bytes and by how the array will be read.

Problem: chunks of a size that suits the store can have many shapes. A reader of maps, all elements of one time, needs
chunks with few times; a reader of time series needs chunks with many. Reading one element of a chunk costs as much as
reading all of it.

Idea: a chunk holds at most E elements. The *time* of an array is the dimension called time, else the first unlimited
one, else the slowest.

- maps: a chunk has one index of time. From the fastest dimension to the slowest, the others are whole as long as they
  fit; the first that does not fit gets as many indices as fit, and those after it get one index each.
- series: time is whole if it fits. The other dimensions are cut into equally many pieces each, so that the chunk fits.
- balanced: a map and a time series touch about equally many chunks. Of N = (elements of the array)/E chunks, time is
  cut into sqrt(N) pieces, and the others together into as many. A map then touches N / sqrt(N) = sqrt(N) chunks, and a
  series touches sqrt(N) chunks (R. Rew, "Chunking Data: Choosing Shapes", Unidata, 2013).

Sizes are aligned to the chunks of the source where these cut the dimension: to a multiple of a chunk, or to a number
that divides it. Otherwise more chunks of the source than necessary would lie in two chunks of the target.

Example: 8760 x 721 x 1440 float32 in chunks of 8 MiB, so E = 2,097,152 and N = 4337.

- maps: 1 x 721 x 1440, one chunk a map.
- series: E / 8760 = 239 series fit. sqrt(721 * 1440 / 239) = 66 pieces, so 8760 x 10 x 23.
- balanced: 8760 / sqrt(4337) = 133, and E / 133 = 15,768 elements are left. sqrt(721 * 1440 / 15,768) = 8.1 pieces, so
  133 x 88 x 179: a series touches 66 chunks, and a map 9 x 9.
- balanced, from chunks of 48 x 100 x 100: 133 becomes 96, and the rest 100 x 200.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..._arguments.auto_chunks import CHUNK_BYTES, AutoChunks
from ..steps import StepArray

_TIME_NAMES = ("time", "valid_time")
_MIN_UNLIMITED_ELEMENTS = 1024
"""Minimum number of elements in a chunk of a coordinate that may be extended."""


@dataclass(frozen=True)
class ChunkUnits:
    """The sizes to which the chunks of an array are aligned."""

    sizes: Sequence[int] | None
    """The sizes of the chunks of the source, or of the shards of the target; None if there are none."""
    must_divide: bool = False
    """True if chunks must divide these sizes: shards are made of whole chunks."""

    def align(self, dimension: int, size: int, whole: int) -> int:
        """Return the largest aligned size up to `size`; if it is at most half of `size`, return `size` itself, unless
        chunks must divide the units.

        Example: with units of 100, 250 becomes 200, and 60 becomes 50.

        whole  the size of the dimension; a chunk of the source that covers it aligns nothing
        """
        unit = self.sizes[dimension] if self.sizes is not None else 0
        if unit < 1 or (unit >= whole and not self.must_divide):
            return size
        if unit <= size and not self.must_divide:
            return size // unit * unit
        divisor = max(candidate for candidate in range(1, min(size, unit) + 1) if unit % candidate == 0)
        return divisor if self.must_divide or 2 * divisor > size else size


def choose_chunks(auto: AutoChunks, array: StepArray, unlimited: Sequence[int], units: ChunkUnits) -> tuple[int, ...]:
    """Return the shape of the chunks of an array.  unlimited: the dimensions that may be extended"""
    shape = [max(size, 1) for size in array.shape]
    elements = max(auto.bytes // max(array.dtype.itemsize, 1), 1)
    if len(shape) <= 1:
        whole = choose_coordinate(array, unlimited, auto.bytes)
        return tuple(units.align(d, size, size) for d, size in enumerate(whole)) if units.must_divide else whole
    chunks = shape.copy()
    time = _find_time(array, unlimited)
    fastest_first = array.fastest_first(len(shape))
    others = [d for d in fastest_first if d != time]
    if auto.access == "maps":
        chunks[time] = 1
        remaining = elements
        for d in others:
            chunks[d] = _align_size(d, shape[d], remaining, units)
            remaining //= chunks[d]
        return tuple(chunks)
    pieces = 1.0
    if auto.access == "balanced":
        pieces = math.sqrt(max(math.prod(shape) / elements, 1.0))
    chunks[time] = _align_size(time, shape[time], min(max(math.floor(shape[time] / pieces), 1), elements), units)
    _spread(chunks, others, elements // chunks[time], units)
    return tuple(chunks)


def choose_coordinate(array: StepArray, unlimited: Sequence[int], max_bytes: int = CHUNK_BYTES) -> tuple[int, ...]:
    """Return the chunk shape of an array with at most one dimension, which programs read whole: one chunk, if it fits.

    If the dimension is unlimited, a chunk has at least 1024 elements: appends would make many small chunks otherwise.
    """
    elements = max(max_bytes // max(array.dtype.itemsize, 1), 1)
    sizes = [max(size, _MIN_UNLIMITED_ELEMENTS if d in unlimited else 1) for d, size in enumerate(array.shape)]
    return tuple(min(size, elements) for size in sizes)


def _find_time(array: StepArray, unlimited: Sequence[int]) -> int:
    names = [name.lower() for name in array.content.dimension_names]
    named = [d for d, name in enumerate(names) if name in _TIME_NAMES]
    return next(iter((*named, *unlimited)), array.fastest_first(len(array.shape))[-1])


def _align_size(dimension: int, whole: int, size: int, units: ChunkUnits) -> int:
    """Return an aligned size, or the whole dimension."""
    return whole if size >= whole and not units.must_divide else units.align(dimension, size, whole)


def _spread(chunks: list[int], dimensions: Sequence[int], elements: int, units: ChunkUnits) -> None:
    """Cut whole dimensions into about equally many pieces, so that a chunk has at most `elements`.

    The shortest dimension is cut first, so that the longer ones can make up for its rounding.
    """
    remaining = sorted(dimensions, key=lambda d: chunks[d])
    while remaining:
        pieces = max(math.prod(chunks[d] for d in remaining) / max(elements, 1), 1.0) ** (1 / len(remaining))
        dimension = remaining.pop(0)
        size = max(math.floor(chunks[dimension] / pieces + 1e-9), 1)
        chunks[dimension] = _align_size(dimension, chunks[dimension], size, units)
        elements //= chunks[dimension]
