"""Divides the points of an index, which lists or masks select, into regions of the file that are read or written.

Problem: a request for each point is slow, and one region around all points may have many unrequested elements.

Idea: points that follow each other in equal steps along one dimension are one region without other elements. Other
points are read by one region around them if the unrequested elements cost less than further requests; otherwise they
are cut in two at the widest gap near the middle, and each half is divided in the same way. Regions that are written
contain only the points.

Example: the points 0, 1, 1,000,000 and 1,000,001 of a line of doubles become two regions of two elements each.
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

_MAX_REGION_BYTES = 8 << 20
"""Maximum bytes of memory for a region with unrequested elements."""
_CHEAP_BYTES = 64 << 10
"""Bytes that are read in about the time that planning one more read takes (measured: 10 to 20 µs)."""
_MAX_GAP_BYTES = 4 << 10
"""Bytes of a gap in the file below which a read with scattered short runs also reads the gap."""
_MAX_SPARSENESS = 4
"""Maximum ratio of all elements of a region to the requested ones, if its gaps are read too."""


@dataclass(frozen=True)
class Piece:
    """A region of the file, and the destination of its elements in the box.

    slices  the region; if `point_indices` is None, all dimensions of the points but one have a single index
    target  the destination in the box
    swapped  the dimension that has the points in the box, and the one that has them in the region, if `point_indices`
            is None
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
    divider = _PointDivider(index.points, element_bytes, order, exact)
    count = index.points.count
    window = [slice(0, count) for count in index.box]
    if count == 0:
        empty = [(0, 0, 1, False) if d in index.points.dimensions else part for d, part in enumerate(index.slices)]
        yield Piece(empty, tuple(window), (0, 0), None)
        return
    yield from divider.divide(0, count, index.slices, window)


class _PointDivider:
    """Cuts points into regions."""

    def __init__(self, points: Points, element_bytes: int, order: str, exact: bool) -> None:
        self._points = points
        self._element_bytes = element_bytes
        self._order = order
        self._exact = exact

    def divide(self, begin: int, end: int, slices: Slices, window: list[slice]) -> Iterator[Piece]:
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
        if not self._exact and self._is_cheaper(enclosing, end - begin, math.prod(counts)):
            halved = self._choose_halved_dimension(enclosing)
            if halved is None:
                point_indices = tuple(numbers - low for numbers, low in zip(indices, lows, strict=True))
                yield Piece(enclosing, tuple(window), (0, 0), point_indices)
                return
            if halved >= 0:
                for part, half in _halve(slices[halved], window[halved]):
                    slices, window[halved] = [*slices[:halved], part, *slices[halved + 1 :]], half
                    yield from self.divide(begin, end, slices, window)
                return
        middle = begin + _find_gap(indices)
        yield from self.divide(begin, middle, slices, window)
        yield from self.divide(middle, end, slices, window)

    def _is_cheaper(self, region: Slices, wanted: int, covered: int) -> bool:
        """Return True if one region around some points costs less than the points alone."""
        bytes_of_one = math.prod(count for _, count, _, _ in region) // covered * self._element_bytes
        if bytes_of_one * covered <= _CHEAP_BYTES or bytes_of_one * (covered - wanted) <= _CHEAP_BYTES * wanted:
            return True
        ends = self._points.dimensions
        faster = region[max(ends) + 1 :] if self._order == "C" else region[: min(ends)]
        contiguous_bytes = math.prod(count for _, count, _, _ in faster) * self._element_bytes
        return contiguous_bytes < _MAX_GAP_BYTES and covered <= _MAX_SPARSENESS * wanted

    def _choose_halved_dimension(self, region: Slices) -> int | None:
        """Return the dimension of a region to halve: None if it fits, else a dimension without points, or -1."""
        if math.prod(count for _, count, _, _ in region) * self._element_bytes <= _MAX_REGION_BYTES:
            return None
        dimensions = range(len(region)) if self._order == "C" else range(len(region) - 1, -1, -1)
        return next((d for d in dimensions if d not in self._points.dimensions and region[d][1] > 1), -1)


def _find_line(indices: list[Numbers], counts: list[int]) -> tuple[int, int, int] | None:
    """Return along which of the dimensions the points follow each other in equal steps, from where, and the step."""
    number = len(indices[0])
    moving = [d for d, count in enumerate(counts) if count > 1]
    if not moving:
        return 0, int(indices[0][0]), 1
    if len(moving) > 1:
        return None
    numbers = indices[moving[0]]
    step, remainder = divmod(counts[moving[0]] - 1, number - 1)
    if remainder or (step > 1 and not bool((numbers[1:] - numbers[:-1] == step).all())):
        return None
    return moving[0], int(numbers[0]), step


def _find_gap(indices: list[Numbers]) -> int:
    """Return where to cut points in two: near the middle, at the widest gap of a dimension in which they move."""
    number = len(indices[0])
    lowest, highest = max(number // 4, 1), max(number - number // 4, 2)
    widest, middle = 0, number // 2
    for numbers in indices:
        gaps = np.abs(np.diff(numbers[lowest - 1 : highest]))
        if len(gaps) and int(gaps.max()) > widest:
            return lowest + int(gaps.argmax())
    return middle


def _halve(part: tuple[int, int, int, bool], window: slice) -> Iterator[tuple[tuple[int, int, int, bool], slice]]:
    start, count, step, _ = part
    half = count // 2
    yield (start, half, step, False), slice(window.start, window.start + half)
    yield (start + half * step, count - half, step, False), slice(window.start + half, window.stop)
