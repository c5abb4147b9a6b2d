"""Chooses the regions in which the elements of an index are read and written: few regions, with few unrequested
elements.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._arguments.region import Slices
from .index import Index, Numbers, Points

_SCRATCH = 8 << 20
"""Maximum bytes of memory for a region with unrequested elements."""
_CHEAP = 64 << 10
"""Bytes that are read in about the time that planning one more read takes (measured: 10 to 20 µs)."""
_SIEVED = 4 << 10
"""Bytes of a gap in the file below which a read with scattered short runs also reads the gap."""
_SPARSEST = 4
"""Maximum ratio of all elements of a region to the requested ones, if its gaps are read too."""


@dataclass(frozen=True)
class Piece:
    """A region of the file, and the destination of its elements in the box.

    slices  the region; if `point_indices` is None, all dimensions of the points but one have a single index
    target  the destination in the box
    swapped  the dimension of the points in the box, and the one in the region, if `point_indices` is None
    point_indices  the points' indices in the region, one array for each of their dimensions; None: the whole region is
            requested
    """

    slices: Slices
    target: tuple[slice, ...]
    swapped: tuple[int, int]
    point_indices: tuple[Numbers, ...] | None

    def view(self, box: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the part of the box for the region; if `point_indices` is None, with the dimensions of the region."""
        if box.size == 0:
            return np.empty([count for _, count, _, single in self.slices if not single], box.dtype)
        part = box[self.target].swapaxes(*self.swapped)
        return part[tuple(0 if single else slice(None) for _, _, _, single in self.slices)]


def split_index(index: Index, element_bytes: int, order: str, exact: bool) -> Iterator[Piece]:
    """Divide the elements of an index with points into regions.

    exact  True if no region may hold an unrequested element, as for writing
    """
    assert index.points is not None
    cutter = _Cutter(index.points, element_bytes, order, exact)
    count = index.points.count
    window = [slice(0, count) for count in index.box]
    if count == 0:
        empty = [(0, 0, 1, False) if d in index.points.dimensions else part for d, part in enumerate(index.slices)]
        yield Piece(empty, tuple(window), (0, 0), None)
        return
    yield from cutter.cut(0, count, index.slices, window)


class _Cutter:
    """Cuts points into regions."""

    def __init__(self, points: Points, element_bytes: int, order: str, exact: bool) -> None:
        self._points = points
        self._element_bytes = element_bytes
        self._order = order
        self._exact = exact

    def cut(self, begin: int, end: int, slices: Slices, window: list[slice]) -> Iterator[Piece]:
        """Cut the points from `begin` to `end`, of a window of the other dimensions."""
        points = self._points
        first = points.dimensions[0]
        window = [*window]
        window[first] = slice(begin, end)
        indices = [numbers[begin:end] for numbers in points.indices]
        lows = [int(numbers.min()) for numbers in indices]
        counts = [int(numbers.max()) - low + 1 for numbers, low in zip(indices, lows, strict=True)]
        line = _find_line(indices, counts)
        if line is not None:
            along, start, step = line
            line_region = [*slices]
            for d, numbers in zip(points.dimensions, indices, strict=True):
                line_region[d] = (int(numbers[0]), 1, 1, True)
            line_region[points.dimensions[along]] = (start, end - begin, step, False)
            yield Piece(line_region, tuple(window), (first, points.dimensions[along]), None)
            return
        enclosing = [*slices]
        for d, low, count in zip(points.dimensions, lows, counts, strict=True):
            enclosing[d] = (low, count, 1, False)
        if not self._exact and self._is_worth(enclosing, end - begin, math.prod(counts)):
            halved = self._halved(enclosing)
            if halved is None:
                point_indices = tuple(numbers - low for numbers, low in zip(indices, lows, strict=True))
                yield Piece(enclosing, tuple(window), (0, 0), point_indices)
                return
            if halved >= 0:
                for part, half in _halves(slices[halved], window[halved]):
                    slices, window[halved] = [*slices[:halved], part, *slices[halved + 1 :]], half
                    yield from self.cut(begin, end, slices, window)
                return
        middle = begin + _gap_in(indices)
        yield from self.cut(begin, middle, slices, window)
        yield from self.cut(middle, end, slices, window)

    def _is_worth(self, around: Slices, wanted: int, covered: int) -> bool:
        """Return True if one region around some points costs less than the points alone."""
        bytes_of_one = math.prod(count for _, count, _, _ in around) // covered * self._element_bytes
        if bytes_of_one * covered <= _CHEAP or bytes_of_one * (covered - wanted) <= _CHEAP * wanted:
            return True
        ends = self._points.dimensions
        faster = around[max(ends) + 1 :] if self._order == "C" else around[: min(ends)]
        together = math.prod(count for _, count, _, _ in faster) * self._element_bytes
        return together < _SIEVED and covered <= _SPARSEST * wanted

    def _halved(self, around: Slices) -> int | None:
        """Return the dimension of a region to halve: None if it fits, else a dimension without points, or -1."""
        if math.prod(count for _, count, _, _ in around) * self._element_bytes <= _SCRATCH:
            return None
        dimensions = range(len(around)) if self._order == "C" else range(len(around) - 1, -1, -1)
        return next((d for d in dimensions if d not in self._points.dimensions and around[d][1] > 1), -1)


def _find_line(indices: list[Numbers], counts: list[int]) -> tuple[int, int, int] | None:
    """Return along which of the dimensions the points follow each other in equal steps, from where, and the step."""
    number = len(indices[0])
    moving = [d for d, count in enumerate(counts) if count > 1]
    if not moving:
        return 0, int(indices[0][0]), 1
    if len(moving) > 1:
        return None
    numbers = indices[moving[0]]
    step, rest = divmod(counts[moving[0]] - 1, number - 1)
    if rest or (step > 1 and not bool((numbers[1:] - numbers[:-1] == step).all())):
        return None
    return moving[0], int(numbers[0]), step


def _gap_in(indices: list[Numbers]) -> int:
    """Return where to cut points in two: near the middle, at the widest gap of a dimension in which they move."""
    number = len(indices[0])
    lowest, highest = max(number // 4, 1), max(number - number // 4, 2)
    widest, at = 0, number // 2
    for numbers in indices:
        gaps = np.abs(np.diff(numbers[lowest - 1 : highest]))
        if len(gaps) and int(gaps.max()) > widest:
            return lowest + int(gaps.argmax())
    return at


def _halves(part: tuple[int, int, int, bool], window: slice) -> Iterator[tuple[tuple[int, int, int, bool], slice]]:
    start, count, step, _ = part
    half = count // 2
    yield (start, half, step, False), slice(window.start, window.start + half)
    yield (start + half * step, count - half, step, False), slice(window.start + half, window.stop)
