"""The padded block of one rank: its part of the array, its halo, and the source of each halo position."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

import plait
from plait.draw.axis import Axis, Band, Owners, Unit

_MARGIN_BANDS = 2  # indices or bands beyond the halo that are shown where not everything fits


class Kind(IntEnum):
    """The relation of a cell to the rank of interest. A cell has one kind per dimension; the largest one counts."""

    OWNED = 0
    HALO = 1
    """A halo position that receives the element next to the block."""
    WRAPPED = 2
    """A halo position that receives an element from the other end of a periodic dimension."""
    UNTOUCHED = 3
    """A halo position outside the array."""
    OTHER = 4
    """An element of another rank."""
    OUTSIDE = 5
    """A position outside of both the array and the halo."""


def first_position(layout: plait.Layout, rank: int) -> tuple[int, ...]:
    """Return the first element that a rank owns.  pre  it owns one."""
    return layout.to_global([0] * layout.ndim, rank)


def has_halo(layout: plait.Layout) -> bool:
    """Return True if any dimension has a halo."""
    return any(width != (0, 0) for width in layout.halo)


def find_block(layout: plait.Layout, dimension: int, rank: int) -> Band:
    """Return the consecutive indices of a dimension that a rank owns.  pre  it owns an element"""
    begin = first_position(layout, rank)[dimension]
    return Band(begin, begin + layout.local_shape(rank)[dimension])


def divide_around(layout: plait.Layout, dimension: int, rank: int, limit: int, unit: Unit) -> Axis:
    """Return about `limit` bands at most, which show the padded block of a rank, including halo outside of the array.

    Everything is shown index by index if it fits; else the block with its halo is shown, index by index or in bands.
    """
    extent = layout.shape[dimension]
    block = find_block(layout, dimension, rank)
    halo_before, halo_after = layout.halo[dimension]
    begin, end = block.begin - halo_before, block.end + halo_after
    lowest, highest = min(0, begin), max(extent, end)
    if highest - lowest > limit:
        lowest, highest = max(lowest, begin - _MARGIN_BANDS), min(highest, end + _MARGIN_BANDS)
    if unit == "index" or highest - lowest <= limit:
        return Axis(extent, tuple(Band(k, k + 1) for k in range(lowest, min(highest, lowest + limit))))
    side = max((limit - 1) // 2, 1)
    before = [
        *_cut_bands(layout, dimension, lowest, begin, side),
        *_cut_bands(layout, dimension, begin, block.begin, side),
    ]
    after = [*_cut_bands(layout, dimension, block.end, end, side), *_cut_bands(layout, dimension, end, highest, side)]
    return Axis(extent, (*before[-side:], block, *after[:side]))


def _cut_bands(layout: plait.Layout, dimension: int, begin: int, end: int, limit: int) -> list[Band]:
    """Return the first `limit` bands of [begin, end). Indices outside the array wrap around or have no owner."""
    owners = Owners(layout, dimension)
    extent = layout.shape[dimension]
    bands: list[Band] = []
    while begin < end and len(bands) < limit:
        if 0 <= begin < extent or layout.periodic[dimension]:
            stop = min(end, begin + owners.end(begin % extent) - begin % extent)
        else:
            stop = min(end, 0) if begin < 0 else end
        bands.append(Band(begin, stop))
        begin = stop
    return bands


def find_kinds_along(layout: plait.Layout, dimension: int, rank: int, axis: Axis) -> npt.NDArray[np.int64]:
    """Return the Kind of each band of a dimension to a rank, as if it were the only dimension."""
    block = find_block(layout, dimension, rank)
    halo_before, halo_after = layout.halo[dimension]

    def kind(at: int) -> Kind:
        if block.begin <= at < block.end:
            return Kind.OWNED
        if not block.begin - halo_before <= at < block.end + halo_after:
            return Kind.OTHER
        if 0 <= at < axis.extent:
            return Kind.HALO
        return Kind.WRAPPED if layout.periodic[dimension] else Kind.UNTOUCHED

    return np.array([kind(at) for at in axis.points], dtype=np.int64)
