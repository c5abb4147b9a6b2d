"""Divides one dimension of an array into the bands that a picture shows.

A band is a stretch of indices with one owner.  A small dimension is shown index by index; a large one by whole bands,
and where there are too many of those, by its first and last ones.  The cost depends on what is shown, never on the
extent.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

import plait

Unit = Literal["fit", "band", "index"]

_TAIL = 3  # bands kept from the end of a dimension that does not fit


@dataclass(frozen=True)
class Band:
    """The indices ``begin <= i < end`` of one dimension; all of them belong to one owner."""

    begin: int
    end: int

    def __str__(self) -> str:
        """Return ``7`` for a single index and ``0..7`` for more."""
        return str(self.begin) if self.end - self.begin == 1 else f"{self.begin}..{self.end - 1}"


@dataclass(frozen=True)
class Axis:
    """The bands of one dimension that are shown, in ascending order."""

    extent: int
    bands: tuple[Band, ...]
    gap: int | None = None
    """Number of bands in front of the part that is left out, or None where nothing is."""

    @property
    def points(self) -> list[int]:
        """One index out of each band."""
        return [band.begin for band in self.bands]

    @property
    def single(self) -> bool:
        """Whether each band is just one index."""
        return all(band.end - band.begin == 1 for band in self.bands)

    def describe(self, name: str) -> str | None:
        """Say which part of the dimension is shown, or return None where that is all of it."""
        if self.gap is None:
            return None
        head = Band(0, self.bands[self.gap - 1].end)
        tail = f" and {Band(self.bands[self.gap].begin, self.extent)}" if self.gap < len(self.bands) else ""
        return f"{name} {head}{tail} of {self.extent}"


def divide(layout: plait.Layout, dimension: int, limit: int, *, unit: Unit = "fit", tail: bool = True) -> Axis:
    """Return at most `limit` bands of a dimension.

    unit  "index": bands of one index; "band": whole bands; "fit": indices where all of them fit, else whole bands
    tail  where not everything fits, show the last bands too, not only the first ones
    """
    extent = layout.shape[dimension]
    limit = max(limit, 1)
    begins: Sequence[int] = range(extent)
    if unit == "band" or (unit == "fit" and extent > limit):
        begins = _band_begins(layout.dist[dimension], extent, _coordinates(layout, dimension))

    def band(k: int) -> Band:
        return Band(begins[k], begins[k + 1] if k + 1 < len(begins) else extent)

    if len(begins) <= limit:
        return Axis(extent, tuple(band(k) for k in range(len(begins))))
    last = _TAIL if tail and limit >= 4 * _TAIL else 0
    first = limit - last - (1 if last else 0)
    shown = [*range(first), *range(len(begins) - last, len(begins))]
    return Axis(extent, tuple(band(k) for k in shown), gap=first)


def _coordinates(layout: plait.Layout, dimension: int) -> int:
    """Return the number of grid coordinates that a dimension is dealt to."""
    if layout.dist[dimension] == "*":
        return 1
    return layout.grid[sum(text != "*" for text in layout.dist[:dimension])]


def _band_begins(distribution: str, extent: int, coordinates: int) -> Sequence[int]:
    """Return the first index of each band.  A range is never expanded, so `extent` may be huge."""
    if extent == 0:
        return range(0)
    name, arguments = _split(distribution)
    if name == "*" or coordinates == 1:
        return range(0, extent, extent)
    if name == "block":
        return range(0, extent, arguments[0] if arguments else -(-extent // coordinates))
    if name == "cyclic":
        return range(0, extent, arguments[0] if arguments else 1)
    if name == "balanced":
        small, larger = divmod(extent, coordinates)
        return _starts([small + 1] * larger + [small] * (coordinates - larger), extent)
    if name == "gen_block":
        return _starts(arguments, extent)
    return range(extent)


def _split(distribution: str) -> tuple[str, list[int]]:
    """Take ``cyclic(3)`` apart into its name and numbers."""
    name = distribution.split("(")[0].strip()
    return name, [int(number) for number in re.findall(r"\d+", distribution[len(name) :])]


def _starts(sizes: list[int], extent: int) -> list[int]:
    ends = [0, *accumulate(sizes)]
    return [begin for begin, size in zip(ends, sizes, strict=False) if size > 0 and begin < extent]
