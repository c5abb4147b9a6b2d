"""Chooses the windows of a copy between two ways of storing an array: boxes that cost both ends as little as possible.

The ends of a copy are its source and its target. A unit is the part that an end reads or writes as a whole: a chunk.
Each access to a part of a compressed chunk costs as much as the whole chunk. If elements are stored uncompressed in one
piece, each contiguous stretch of the file costs one request. Along each dimension the sizes tried are the whole
dimension, and multiples of the units of either end and of their least common multiple.

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

_FloatArray = npt.NDArray[np.float64]

# Rates of a copy with a warm cache, within a factor of two of `plait bench copy`; only their ratios matter. They are
# constants, because each rank chooses windows and passes by itself and all ranks must choose the same.
_DECODE_RATE = 1.0e9  # bytes per second of decompressed chunks
_ENCODE_RATE = 0.35e9  # bytes per second of chunks to compress
_COPY_RATE = 2.5e9  # bytes per second of elements that are not compressed
_REQUEST_SECONDS = 4e-6  # per contiguous stretch of a file
_CHUNK_SECONDS = 40e-6  # per chunk
_CHUNKED_END_SECONDS = 1e-3  # for each end whose array has chunks
_WINDOW_SECONDS = 1e-3  # per window
_MAX_SIZES = {1: 4096, 2: 160, 3: 40, 4: 16}  # by the number of dimensions: sizes to try along each
_MAX_SIZES_OTHERWISE = 6  # sizes to try along each dimension of an array with more dimensions
_MAX_COMBINATIONS = 200_000  # of sizes, one for each dimension: they are evaluated in some milliseconds
_MAX_EXACT_WINDOWS = 1 << 16  # windows along a dimension up to which touched units are counted exactly


@dataclass(frozen=True, eq=False)
class Storage:
    """The storage of an array at one end of a copy."""

    content: Content
    axes: tuple[int, ...] | None = None
    """The dimensions from the slowest to the fastest; None if they are in the order that `content` states."""

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
        """Return the numbers of the dimensions, the one whose neighbours are adjacent in the file first."""
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
        counts = [-(-size // extent) for size, extent in zip(self.shape, self.window, strict=True)]
        for number in range(math.prod(counts)):
            index = np.unravel_index(number, counts, order="C" if self.order == "C" else "F") if counts else ()
            region = tuple(
                slice(int(position) * extent, min((int(position) + 1) * extent, size))
                for position, extent, size in zip(index, self.window, self.shape, strict=True)
            )
            yield Window(region, tuple(part.stop - part.start for part in region))


def choose_boxes(array: Content, source: Storage, target: Storage, memory: int) -> Boxes:
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
    max_tried = _MAX_SIZES.get(len(shape), _MAX_SIZES_OTHERWISE)
    sizes_tried = [
        _list_sizes(size, [end.chunks[d] for end in (source, target) if end.chunks], max_tried, memory // itemsize)
        for d, size in enumerate(shape)
    ]
    _limit_combinations(sizes_tried, order=source.order)
    grids = _make_grids(sizes_tried)
    elements = _multiply(grids)
    seconds = _predict_all(array, source, target, sizes_tried)
    seconds = np.where(elements * itemsize <= memory, seconds, np.inf)
    best = np.unravel_index(int(np.argmin(seconds)), seconds.shape)
    window = tuple(sizes[int(index)] for sizes, index in zip(sizes_tried, best, strict=True))
    return Boxes(shape, window, source.order, float(seconds[best]))


def predict_seconds(array: Content, source: Storage, target: Storage, window: tuple[int, ...]) -> float:
    """Return how many seconds a copy through windows of one shape is predicted to take."""
    if math.prod(array.shape) == 0 or not window:
        return 0.0
    return float(_predict_all(array, source, target, [[size] for size in window]).item())


def _predict_all(array: Content, source: Storage, target: Storage, sizes_tried: list[list[int]]) -> _FloatArray:
    """Return the predicted seconds of a copy for each combination of window sizes."""
    grids = _make_grids(sizes_tried)
    counts = _multiply([np.ceil(size / grid) for size, grid in zip(array.shape, grids, strict=True)])
    seconds: _FloatArray = counts * _WINDOW_SECONDS
    for end, writes in ((source, False), (target, True)):
        seconds = seconds + _predict_end(end, writes, array, sizes_tried, grids)
    return seconds


def _make_grids(sizes_tried: list[list[int]]) -> list[_FloatArray]:
    """Return the sizes of each dimension as an array along it, so that broadcasting forms all combinations."""
    return list(np.meshgrid(*[np.array(sizes, np.float64) for sizes in sizes_tried], indexing="ij", sparse=True))


def count_touches(shape: tuple[int, ...], unit: tuple[int, ...], window: tuple[int, ...]) -> int:
    """Return how many units of one shape the windows touch; a unit that two windows touch counts twice."""
    return math.prod(_count_touched(*sizes) for sizes in zip(shape, unit, window, strict=True))


def count_stretches(shape: tuple[int, ...], stored: Storage, window: tuple[int, ...]) -> int:
    """Return the number of contiguous pieces in which one end of the copy stores the elements of all windows."""
    elements = math.prod(shape)
    if elements == 0 or not shape:
        return min(elements, 1)
    whole = stored.chunks or shape
    parts = [np.array(min(size, unit), np.float64) for size, unit in zip(window, whole, strict=True)]
    return max(round(elements / float(_count_contiguous(stored.fastest_first(len(shape)), list(whole), parts))), 1)


def _list_sizes(size: int, units: list[int], limit: int, elements: int) -> list[int]:
    """Return sizes of windows along a dimension, ascending, with 1 among them."""
    bases = {1, *units}
    if len(units) > 1:
        bases.add(math.lcm(*units))
    candidates = {1} | ({size} if size <= elements else set())
    for base in bases:
        candidate = base
        while candidate < size and candidate <= elements:
            candidates.add(candidate)
            candidate *= 2
        if base <= elements and base > 1:  # as many units as fit
            candidates.add(min(size, elements // base * base))
    ordered = sorted(value for value in candidates if value <= size)
    if len(ordered) <= limit:
        return ordered
    selected = {1, ordered[-1], *(unit for unit in units if unit <= size)}
    return sorted(selected | set(ordered[:: -(-len(ordered) // max(limit - len(selected), 1))]))


def _limit_combinations(sizes_tried: list[list[int]], order: str) -> None:
    """Remove sizes in place until there are at most `_MAX_COMBINATIONS` combinations; many dimensions have more.

    Every second size of the longest list is removed. If no list has more than two sizes, the slowest dimension keeps
    only the smallest.
    """
    while math.prod(map(len, sizes_tried)) > _MAX_COMBINATIONS:
        longest = max(sizes_tried, key=len)
        if len(longest) > 2:
            longest[1:-1] = longest[1:-1:2] if len(longest) > 3 else []
            continue
        slow = [sizes for sizes in (sizes_tried if order == "C" else sizes_tried[::-1]) if len(sizes) > 1]
        slow[0][1:] = []


def _multiply(parts: list[_FloatArray]) -> _FloatArray:
    result = parts[0]
    for part in parts[1:]:
        result = result * part
    return result


def _predict_end(
    stored: Storage, writes: bool, array: Content, sizes_tried: list[list[int]], grids: list[_FloatArray]
) -> _FloatArray:
    """Return the predicted seconds at one end, for each combination of window sizes.

    writes  True for the target, False for the source

    A compressed chunk costs as much as a whole one each time that a window touches it. If several windows write pieces
    of a chunk, each of them but the first also decodes it.
    """
    shape, itemsize = array.shape, array.type.element_bytes
    total = math.prod(shape) * itemsize
    fastest = stored.fastest_first(len(shape))
    if stored.chunks is None:
        runs = math.prod(shape) / _count_contiguous(fastest, list(shape), grids)
        return runs * _REQUEST_SECONDS + total / _COPY_RATE
    touched = []
    for d, sizes in enumerate(sizes_tried):
        row = np.array([_count_touched(shape[d], stored.chunks[d], candidate) for candidate in sizes], np.float64)
        touched.append(row.reshape(grids[d].shape))
    chunks = _multiply(touched)
    if not stored.whole_chunks:
        inside = [np.minimum(grid, unit) for grid, unit in zip(grids, stored.chunks, strict=True)]
        runs = math.prod(shape) / _count_contiguous(fastest, list(stored.chunks), inside)
        return _CHUNKED_END_SECONDS + runs * _REQUEST_SECONDS + chunks * _CHUNK_SECONDS + total / _COPY_RATE
    size = math.prod(stored.chunks) * itemsize
    if not writes:
        return _CHUNKED_END_SECONDS + chunks * (size / _DECODE_RATE + _CHUNK_SECONDS)
    chunk_count = math.prod(-(-extent // unit) for extent, unit in zip(shape, stored.chunks, strict=True))
    return (
        _CHUNKED_END_SECONDS
        + chunks * (size / _ENCODE_RATE + _CHUNK_SECONDS)
        + (chunks - chunk_count) * size / _DECODE_RATE
    )


def _count_contiguous(fastest: list[int], whole: list[int], parts: list[_FloatArray]) -> _FloatArray:
    """Return how many elements of a box of shape `parts` are contiguous in an array of shape `whole`."""
    run = np.ones(())
    full = np.ones((), bool)
    for d in fastest:
        run = np.where(full, run * parts[d], run)
        full = full & (parts[d] >= whole[d])
    return run


def _count_touched(size: int, unit: int, window: int) -> int:
    """Return how many units the windows along a dimension touch; a unit that two windows touch counts twice."""
    count = -(-size // window)
    if count > _MAX_EXACT_WINDOWS:
        return count + size // unit
    begin = np.arange(count, dtype=np.int64) * window
    end = np.minimum(begin + window, size)
    return int((-(-end // unit) - begin // unit).sum())
