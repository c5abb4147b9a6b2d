"""How the ranks hold what a read takes of each part: sections of the layout of the whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..._arguments.region import Slices
from ..._core import Layout, layout_section
from .parts import Piece

Window = tuple[slice, ...]
"""What of a local array a section fills."""


def dimension_of(axis: int, slices: Slices) -> int:
    """Return the dimension of a region's layout that an axis of the whole is."""
    return sum(not single for _, _, _, single in slices[:axis])


def sections_of(
    pieces: Iterable[Piece], layout: Layout, dimension: int, ranks: Sequence[int]
) -> Iterator[tuple[Piece, Layout, list[Window | None]]]:
    """Return for each piece how it lies under the layout, and where in the local array of each of `ranks` it belongs.

    A local array has the indices of each dimension in ascending order, so that what a section fills of it follows on
    what the one before has filled. None stands for all of a local array.
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
