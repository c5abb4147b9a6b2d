"""Finds the layout of each part of a read: a section of the layout of the whole region."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..._arguments.region import Slices
from ..._core import Layout, layout_section
from .parts import Piece

Window = tuple[slice, ...]
"""The part of a local array that a section fills."""


def region_dimension(axis: int, slices: Slices) -> int:
    """Return the dimension of a region's layout that corresponds to an axis of the whole array."""
    return sum(not single for _, _, _, single in slices[:axis])


def make_sections(
    pieces: Iterable[Piece], layout: Layout, dimension: int, ranks: Sequence[int]
) -> Iterator[tuple[Piece, Layout, list[Window | None]]]:
    """Yield for each piece its layout, and the window that it fills in the local array of each of `ranks`.

    A local array has the indices of each dimension in ascending order, so the window of a section follows the window of
    the previous section. None means a whole local array.
    """
    begins = [layout.halo[dimension][0] if dimension < layout.ndim else 0 for _ in ranks]
    for piece in pieces:
        if piece.count is None or (piece.count == layout.shape[dimension] and not _has_halo(layout)):
            yield piece, layout, [None for _ in ranks]
            continue
        origin = [piece.first if d == dimension else 0 for d in range(layout.ndim)]
        shape = [piece.count if d == dimension else size for d, size in enumerate(layout.shape)]
        section = layout_section(layout, origin, shape)
        windows: list[Window | None] = []
        for number, rank in enumerate(ranks):
            extents = section.local_shape(rank)
            lows = [begins[number] if d == dimension else lo for d, (lo, _) in enumerate(layout.halo)]
            windows.append(tuple(slice(low, low + extent) for low, extent in zip(lows, extents, strict=True)))
            begins[number] += extents[dimension]
        yield piece, section, windows


def _has_halo(layout: Layout) -> bool:
    return any(lo or hi for lo, hi in layout.halo)
