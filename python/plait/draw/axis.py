"""Divides one dimension of an array into the bands that a picture shows.

A band is a stretch of indices with one owner.  A small dimension is shown index by index, a large one by whole bands.
If there are too many bands, the first and last ones are shown, or those around an index of interest (the focus).  The
cost depends on the number of bands that are shown, not on the extent of the dimension.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import plait
from plait._core import IndexSet

Unit = Literal["fit", "band", "index"]

_TAIL_BANDS = 3  # bands at the end of a dimension that is not shown whole
_BANDS_BEFORE_FOCUS = 2  # bands shown before the index of interest


@dataclass(frozen=True)
class Band:
    """The indices ``begin <= i < end`` of one dimension; all of them belong to one owner.

    Indices below 0 and beyond the extent are positions of a halo outside the array.
    """

    begin: int
    end: int

    def __str__(self) -> str:
        """Return ``7`` for a single index and ``0..7`` for more."""
        return str(self.begin) if self.size == 1 else f"{self.begin}..{self.end - 1}"

    @property
    def size(self) -> int:
        """Number of indices."""
        return self.end - self.begin


@dataclass(frozen=True)
class Axis:
    """The bands of one dimension that are shown, in ascending order."""

    extent: int
    bands: tuple[Band, ...]

    @property
    def points(self) -> list[int]:
        """One index in each band."""
        return [band.begin for band in self.bands]

    @property
    def single(self) -> bool:
        """True if each band is a single index."""
        return all(band.size == 1 for band in self.bands)

    @property
    def gaps(self) -> frozenset[int]:
        """The numbers of the bands before which something is left out; len(bands) if the end is left out."""
        ends = [0, *(band.end for band in self.bands)]
        begins = [*self.points, self.extent]
        return frozenset(k for k, (end, begin) in enumerate(zip(ends, begins, strict=True)) if end < begin)

    @property
    def stretches(self) -> list[Band]:
        """The shown indices, with adjacent bands joined."""
        joined: list[Band] = []
        for band in self.bands:
            if joined and joined[-1].end == band.begin:
                joined[-1] = Band(joined[-1].begin, band.end)
            else:
                joined.append(band)
        return joined

    def describe(self, name: str) -> str | None:
        """Return a text about the part of the dimension that is shown; None if all of it is."""
        if not self.gaps:
            return None
        return f"{name} {' and '.join(map(str, self.stretches))} of {self.extent}"


class Owners:
    """The owners of one dimension of a layout, as runs: consecutive indices with one owner."""

    def __init__(self, layout: plait.Layout, dimension: int) -> None:
        """Store a layout and one of its dimensions."""
        self._layout, self._dimension = layout, dimension
        self.extent = layout.shape[dimension]
        self._sets: dict[int, tuple[IndexSet, int]] = {}

    def _find_owned(self, index: int) -> tuple[IndexSet, int]:
        """Return the indices of the owner of an index, and the length of their longest run."""
        element = [0] * self._layout.ndim
        element[self._dimension] = index
        rank = self._layout.owners(element)[0]
        if rank not in self._sets:
            members = self._layout.index_set(rank, self._dimension)
            self._sets[rank] = members, members.longest_run
        return self._sets[rank]

    def end(self, index: int) -> int:
        """Return the end of the run that contains an index, by bisection.  cost  the logarithm of its length"""
        members, longest = self._find_owned(index)
        inside, outside = index + 1, min(index + longest, self.extent) + 1
        trial = outside - 1  # most runs are as long as the longest one
        while inside + 1 < outside:
            if (members & IndexSet.range(index, trial)).size == trial - index:
                inside = trial
            else:
                outside = trial
            trial = (inside + outside) // 2
        return inside

    def begin(self, index: int) -> int:
        """Return the begin of the run that contains an index."""
        members, longest = self._find_owned(index)
        inside, outside = index, max(index + 1 - longest, 0) - 1
        trial = outside + 1
        while inside - 1 > outside:
            if (members & IndexSet.range(trial, index + 1)).size == index + 1 - trial:
                inside = trial
            else:
                outside = trial
            trial = (inside + outside) // 2
        return inside

    def forward(self, index: int) -> Iterator[Band]:
        """Yield the bands in ascending order, beginning with the one that begins at an index."""
        while index < self.extent:
            end = self.end(index)
            yield Band(index, end)
            index = end

    def backward(self, end: int) -> Iterator[Band]:
        """Yield the bands in descending order, beginning with the one that ends at `end`."""
        while end > 0:
            begin = self.begin(end - 1)
            yield Band(begin, end)
            end = begin


def divide(
    layout: plait.Layout, dimension: int, limit: int, *, unit: Unit = "fit", tail: bool = True, focus: int | None = None
) -> Axis:
    """Return at most `limit` bands of a dimension.

    unit   "index": bands of one index; "band": whole bands; "fit": indices if all of them fit, else whole bands
    tail   if not everything fits, show the last bands too, not only the first ones
    focus  if not everything fits, show the bands around this index instead
    """
    extent = layout.shape[dimension]
    limit = max(limit, 1)
    if unit == "index" or (unit == "fit" and extent <= limit):
        return _divide_by_index(extent, limit, tail, focus)
    owners = Owners(layout, dimension)
    bands = list(itertools.islice(owners.forward(0), limit + 1))
    if len(bands) <= limit:
        return Axis(extent, tuple(bands))
    if focus is not None:
        before = list(itertools.islice(owners.backward(owners.begin(focus)), _BANDS_BEFORE_FOCUS))
        first = before[-1].begin if before else owners.begin(focus)
        return Axis(extent, tuple(itertools.islice(owners.forward(first), limit)))
    last = _count_last(limit, tail)
    ends = list(itertools.islice(owners.backward(extent), last))
    return Axis(extent, (*bands[: _count_first(limit, last)], *reversed(ends)))


def _divide_by_index(extent: int, limit: int, tail: bool, focus: int | None) -> Axis:
    shown: list[int]
    if extent <= limit:
        shown = list(range(extent))
    elif focus is not None:
        first = min(max(focus - _BANDS_BEFORE_FOCUS, 0), extent - limit)
        shown = list(range(first, first + limit))
    else:
        last = _count_last(limit, tail)
        shown = [*range(_count_first(limit, last)), *range(extent - last, extent)]
    return Axis(extent, tuple(Band(k, k + 1) for k in shown))


def _count_last(limit: int, tail: bool) -> int:
    return _TAIL_BANDS if tail and limit >= 4 * _TAIL_BANDS else 0


def _count_first(limit: int, last: int) -> int:
    """Return how many of the first bands are shown; the gap takes the place of one band."""
    return limit - last - (1 if last else 0)
