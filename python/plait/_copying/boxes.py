"""Chooses the windows of a copy between two ways of storing an array: boxes that cost both ends as little as possible.

A unit is the part that an end reads or writes as a whole: a chunk. The cost of a part of a chunk depends on its
compression. If elements are stored uncompressed in one piece, every stretch of the file is a request. The sizes of
windows that are tried are the whole dimension and multiples of the units, of both ends and of their common multiples.

Example: an array of 1000 x 1000 doubles has compressed chunks of 100 x 1000 in the source and of 250 x 250 in the
target, and the memory for windows has 4,000,000 bytes. Windows of 500 x 1000 consist of whole chunks of both ends:
10 source chunks are decoded once, and 16 target chunks are encoded once. With windows of 250 x 1000, two source chunks
extend over two windows each, and 12 chunks are decoded.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .._base.errors import ArgumentError
from .._core import Content
from .windows import Window

_Seconds = npt.NDArray[np.float64]

# Rates of a copy with a warm cache, within a factor of two of `plait bench copy`; only their ratios matter. They are
# constants, because each rank chooses windows and passes by itself and all ranks must choose the same.
_DECODED = 1.0e9  # bytes per second of decompressed chunks
_ENCODED = 0.35e9  # bytes per second of chunks to compress
_MOVED = 2.5e9  # bytes per second of elements that are not compressed
_REQUEST = 4e-6  # seconds per contiguous stretch of a file
_OPENING = 40e-6  # seconds per chunk
_CHUNKED = 1e-3  # seconds for each end whose array has chunks
_WINDOW = 1e-3  # seconds per window
_MAX_TRIED = {1: 4096, 2: 160, 3: 40, 4: 16}  # number of dimensions: sizes to try along each
_FEWEST_TRIED = 6  # sizes to try along each of more dimensions
_MAX_COMBINATIONS = 200_000
_MAX_COUNTED = 1 << 16  # windows along a dimension up to which touched units are counted exactly


@dataclass(frozen=True, eq=False)
class Storage:
    """The storage of an array at one end of a copy."""

    content: Content
    axes: tuple[int, ...] | None = None
    """The dimensions from the slowest to the fastest, if they are not in the order of the content."""

    @cached_property
    def chunks(self) -> tuple[int, ...] | None:
        """The shape of the chunks; None for an array in one piece."""
        return self.content.chunks or None

    @property
    def shards(self) -> tuple[int, ...] | None:
        """The shape of the shards, files of many chunks; None if there are none."""
        return self.content.shards or None

    @cached_property
    def whole_chunks(self) -> bool:
        """True if a part of a chunk costs as much as the whole chunk."""
        return self.content.whole_chunks

    @cached_property
    def order(self) -> str:
        """The order of the elements, or of the chunks, in the file."""
        return self.content.order

    def fastest_first(self, dimensions: int) -> list[int]:
        """Return the dimensions in the order of storage, fastest first."""
        slow = list(range(dimensions)) if self.order == "C" else list(reversed(range(dimensions)))
        return list(reversed(slow if self.axes is None else self.axes))


def make_storage(order: str, chunks: tuple[int, ...] | None = None, whole_chunks: bool = False) -> Storage:
    """Return a storage with the given properties, for comparisons in which the other properties do not matter."""
    return Storage(Content(order=order, chunks=chunks, whole_chunks=whole_chunks))


@dataclass(frozen=True)
class Boxes:
    """Windows of one shape, smaller at the upper edges, and the predicted time of a copy through them."""

    shape: tuple[int, ...]
    window: tuple[int, ...]
    order: str
    seconds: float

    def windows(self) -> Iterator[Window]:
        """Yield the windows in the order of the array; an array without elements has none."""
        counts = [-(-size // step) for size, step in zip(self.shape, self.window, strict=True)]
        for number in range(math.prod(counts)):
            index = np.unravel_index(number, counts, order="C" if self.order == "C" else "F") if counts else ()
            region = tuple(
                slice(int(at) * step, min((int(at) + 1) * step, size))
                for at, step, size in zip(index, self.window, self.shape, strict=True)
            )
            yield Window(region, tuple(part.stop - part.start for part in region))


def boxes(array: Content, source: Storage, target: Storage, memory: int) -> Boxes:
    """Choose the windows of at most `memory` bytes through which a copy is predicted to be fastest.

    cost  Some milliseconds, whatever the size of the array.
    errors  ArgumentError: not even one element fits
    """
    shape, itemsize = array.shape, array.type.element_bytes
    if math.prod(shape) == 0 or not shape:
        return Boxes(shape, tuple(max(size, 1) for size in shape), source.order, 0.0)
    if memory < itemsize:
        raise ArgumentError(
            f"the memory for windows, {memory} bytes, holds no element of {itemsize} bytes; give more with memory="
        )
    max_tried = _MAX_TRIED.get(len(shape), _FEWEST_TRIED)
    tried = [
        _sizes(size, [end.chunks[d] for end in (source, target) if end.chunks], max_tried, memory // itemsize)
        for d, size in enumerate(shape)
    ]
    _bound(tried, order=source.order)
    grids = _grids(tried)
    elements = _product(grids)
    seconds = _predicted(array, source, target, tried)
    seconds = np.where(elements * itemsize <= memory, seconds, np.inf)
    best = np.unravel_index(int(np.argmin(seconds)), seconds.shape)
    window = tuple(sizes[int(at)] for sizes, at in zip(tried, best, strict=True))
    return Boxes(shape, window, source.order, float(seconds[best]))


def predicted(array: Content, source: Storage, target: Storage, window: tuple[int, ...]) -> float:
    """Return how many seconds a copy through windows of one shape is predicted to take."""
    if math.prod(array.shape) == 0 or not window:
        return 0.0
    return float(_predicted(array, source, target, [[size] for size in window]).item())


def _predicted(array: Content, source: Storage, target: Storage, tried: list[list[int]]) -> _Seconds:
    grids = _grids(tried)
    counts = _product([np.ceil(size / grid) for size, grid in zip(array.shape, grids, strict=True)])
    seconds: _Seconds = counts * _WINDOW
    for end, writes in ((source, False), (target, True)):
        seconds = seconds + _seconds(end, writes, array, tried, grids)
    return seconds


def _grids(tried: list[list[int]]) -> list[_Seconds]:
    return list(np.meshgrid(*[np.array(sizes, np.float64) for sizes in tried], indexing="ij", sparse=True))


def touches(shape: tuple[int, ...], unit: tuple[int, ...], window: tuple[int, ...]) -> int:
    """Return how many units of one shape the windows touch, counted for each window."""
    return math.prod(_touched(*sizes) for sizes in zip(shape, unit, window, strict=True))


def stretches(shape: tuple[int, ...], stored: Storage, window: tuple[int, ...]) -> int:
    """Return the number of contiguous pieces in which one end of the copy stores the elements of all windows."""
    elements = math.prod(shape)
    if elements == 0 or not shape:
        return min(elements, 1)
    whole = stored.chunks or shape
    parts = [np.array(min(size, unit), np.float64) for size, unit in zip(window, whole, strict=True)]
    return max(round(elements / float(_run(stored.fastest_first(len(shape)), list(whole), parts))), 1)


def _sizes(size: int, units: list[int], limit: int, elements: int) -> list[int]:
    """Return sizes of windows along a dimension, ascending, with 1 among them."""
    bases = {1, *units}
    if len(units) > 1:
        bases.add(math.lcm(*units))
    candidates = {1} | ({size} if size <= elements else set())
    for base in bases:
        step = base
        while step < size and step <= elements:
            candidates.add(step)
            step *= 2
        if base <= elements and base > 1:  # as many units as fit
            candidates.add(min(size, elements // base * base))
    ordered = sorted(candidate for candidate in candidates if candidate <= size)
    if len(ordered) <= limit:
        return ordered
    selected = {1, ordered[-1], *(unit for unit in units if unit <= size)}
    return sorted(selected | set(ordered[:: -(-len(ordered) // max(limit - len(selected), 1))]))


def _bound(tried: list[list[int]], order: str) -> None:
    """Leave out sizes until their combinations are few enough to try; with many dimensions there are too many.

    Every second size of the longest list is removed. If no list has more than two sizes, the slowest dimension keeps
    only the smallest.
    """
    while math.prod(map(len, tried)) > _MAX_COMBINATIONS:
        longest = max(tried, key=len)
        if len(longest) > 2:
            longest[1:-1] = longest[1:-1:2] if len(longest) > 3 else []
            continue
        slow = [sizes for sizes in (tried if order == "C" else tried[::-1]) if len(sizes) > 1]
        slow[0][1:] = []


def _product(parts: list[_Seconds]) -> _Seconds:
    result = parts[0]
    for part in parts[1:]:
        result = result * part
    return result


def _seconds(stored: Storage, writes: bool, array: Content, tried: list[list[int]], grids: list[_Seconds]) -> _Seconds:
    """Return the predicted seconds at one end, for each combination of window sizes.

    A compressed chunk costs as much as a whole one each time that a window touches it. When it is written in pieces,
    each time but the first also decodes it.
    """
    shape, itemsize = array.shape, array.type.element_bytes
    total = math.prod(shape) * itemsize
    fastest = stored.fastest_first(len(shape))
    if stored.chunks is None:
        runs = math.prod(shape) / _run(fastest, list(shape), grids)
        return runs * _REQUEST + total / _MOVED
    touched = []
    for d, sizes in enumerate(tried):
        row = np.array([_touched(shape[d], stored.chunks[d], candidate) for candidate in sizes], np.float64)
        touched.append(row.reshape(grids[d].shape))
    chunks = _product(touched)
    if not stored.whole_chunks:
        inside = [np.minimum(grid, unit) for grid, unit in zip(grids, stored.chunks, strict=True)]
        runs = math.prod(shape) / _run(fastest, list(stored.chunks), inside)
        return _CHUNKED + runs * _REQUEST + chunks * _OPENING + total / _MOVED
    size = math.prod(stored.chunks) * itemsize
    if not writes:
        return _CHUNKED + chunks * (size / _DECODED + _OPENING)
    chunk_count = math.prod(-(-extent // unit) for extent, unit in zip(shape, stored.chunks, strict=True))
    return _CHUNKED + chunks * (size / _ENCODED + _OPENING) + (chunks - chunk_count) * size / _DECODED


def _run(fastest: list[int], whole: list[int], parts: list[_Seconds]) -> _Seconds:
    """Return how many elements of a box of shape `parts` are contiguous in an array of shape `whole`."""
    run = np.ones(())
    full = np.ones((), bool)
    for d in fastest:
        run = np.where(full, run * parts[d], run)
        full = full & (parts[d] >= whole[d])
    return run


def _touched(size: int, unit: int, window: int) -> int:
    """Return how many units the windows along a dimension touch, counted for each window."""
    count = -(-size // window)
    if count > _MAX_COUNTED:
        return count + size // unit
    begin = np.arange(count, dtype=np.int64) * window
    end = np.minimum(begin + window, size)
    return int((-(-end // unit) - begin // unit).sum())
