"""ScaLAPACK's array descriptors: block-cyclic matrices on a BLACS grid, column-major in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from plait._calls.guard import entry

from .._base.errors import ArgumentError
from .._core import Layout
from ._make import Ranks, check_integers, check_length, drop_zeros, make_error, make_layout, rank_table
from ._table import check_features, check_round_trip, make_table

#: The names of the nine entries, in order.
ENTRIES = ("DTYPE_", "CTXT_", "M_", "N_", "MB_", "NB_", "RSRC_", "CSRC_", "LLD_")
_DENSE = 1
_NAME = "a ScaLAPACK descriptor"


class Grid(NamedTuple):
    """A BLACS process grid: its rows and columns, and "R", "C" or the process at each (row, column)."""

    extents: tuple[int, int]
    order: str | tuple[tuple[int, ...], ...]


@entry
def from_descriptor(
    desc: Sequence[int],
    grid: Sequence[int],
    *,
    order: str | Sequence[Sequence[int]] = "R",
    start: Sequence[int] = (0, 0),
    shape: Sequence[int] | None = None,
) -> Layout:
    """Return the layout of a matrix, or of its submatrix `shape` from the element `start` (IA - 1, JA - 1) on.

    desc   nine integers as DESCINIT fills them; the context and the leading dimension are not part of a layout
    grid   rows and columns of the BLACS grid
    order  "R" or "C" as in BLACS_GRIDINIT, or the process at each (row, column) as in BLACS_GRIDMAP

    Raises ArgumentError for a descriptor that is not of a dense matrix, or that DESCINIT would reject.
    """
    entries = check_integers(desc, "the descriptor", minimum=-1)
    check_length("the descriptor", entries, len(ENTRIES), "entries of a dense matrix")
    kind, _, rows, columns, *_, leading = entries
    if kind != _DENSE:
        raise ArgumentError(f"DTYPE_ is {kind}; only dense matrices (DTYPE_ = {_DENSE}) are known")
    extents = check_integers(grid, "the grid", minimum=1)
    check_length("the grid", extents, 2)
    blocks, source = entries[4:6], entries[6:8]
    for name, value, minimum, end in (
        ("M_", rows, 0, None),
        ("N_", columns, 0, None),
        ("MB_", blocks[0], 1, None),
        ("NB_", blocks[1], 1, None),
        ("RSRC_", source[0], 0, extents[0]),
        ("CSRC_", source[1], 0, extents[1]),
        ("LLD_", leading, 1, None),
    ):
        if value < minimum or (end is not None and value >= end):
            upper = "" if end is None else f" and less than {end}"
            raise ArgumentError(f"{name} is {value}; expected {minimum} or more{upper}")
    begin = check_integers(start, "start")
    check_length("start", begin, 2)
    size = (rows - begin[0], columns - begin[1]) if shape is None else check_integers(shape, "shape")
    check_length("shape", size, 2)
    for d, whole in enumerate((rows, columns)):
        if not 0 <= size[d] <= whole - begin[d]:
            raise ArgumentError(f"{size[d]} indices from {begin[d]} on lie outside the {whole} of dimension {d}")
    sources = [(source[d] + begin[d] // blocks[d]) % extents[d] for d in range(2)]
    offsets = [begin[d] % blocks[d] for d in range(2)]
    table = _make_rank_table(order, (extents[0], extents[1]))[..., None]
    dist = [f"cyclic({block})" for block in blocks]
    return make_layout(size, dist, table, order="F", source=drop_zeros(sources), offset=drop_zeros(offsets))


@entry
def to_descriptor(layout: Layout, rank: int, *, context: int = 0) -> list[int]:
    """Return the nine integers of a rank, with the smallest leading dimension that its local array can have.

    Raises ArgumentError if the layout is not a matrix, is not distributed in equal blocks, begins inside a block, has
    replicas or halos, or is not column-major (order=F) on each rank.  The BLACS grid that belongs to it is
    `to_grid(layout)`.
    """
    _, desc = _find_descriptor(layout)
    leading = max(layout.local_shape(rank)[0], 1)
    return [desc[0], context, *desc[2:8], leading]


@entry
def to_grid(layout: Layout) -> Grid:
    """Return the BLACS grid of a layout's descriptors.  Raises ArgumentError for the same layouts as to_descriptor."""
    return _find_descriptor(layout)[0]


def _find_descriptor(layout: Layout) -> tuple[Grid, list[int]]:
    """Return the grid of a layout, and the descriptor with placeholders for context and leading dimension.

    errors  ArgumentError: no descriptor describes the layout
    """
    if layout.ndim != 2:
        raise make_error(_NAME, layout, f"the array has {layout.ndim} dimensions, and a matrix has 2")
    table = make_table(layout)
    check_features(_NAME, table, replicas="a descriptor gives each to one", halo="a descriptor knows none")
    table = table.by_index()
    for d, dimension in enumerate(table.dimensions):
        if dimension.cyclic is None:
            raise make_error(
                _NAME, layout, f"dimension {d} is not distributed in equal blocks in turn from its first index on"
            )
    mb, nb = (dimension.cyclic[0] if dimension.cyclic else 1 for dimension in table.dimensions)
    # If ranks are counted along the BLACS grid, its position (0, 0) has the smallest rank, and the first block is at
    # the source position.  Otherwise a map of ranks describes the grid.
    ranks = table.ranks[..., 0]
    extents = (int(ranks.shape[0]), int(ranks.shape[1]))
    row, column = (int(c) for c in np.unravel_index(np.argmin(ranks), extents))
    rolled = np.roll(ranks, (-row, -column), axis=(0, 1))
    order = next((name for name in ("R", "C") if np.array_equal(rolled, _make_rank_table(name, extents))), None)
    source = (-row % extents[0], -column % extents[1]) if order else (0, 0)
    grid = Grid(extents, order or tuple(tuple(line) for line in ranks.tolist()))
    desc = [_DENSE, 0, *layout.shape, mb, nb, *source, 1]
    back = from_descriptor(desc, grid.extents, order=grid.order)
    check_round_trip(_NAME, table, back, "its descriptor means another layout")
    return grid, desc


def _make_rank_table(order: Any, extents: tuple[int, int]) -> Ranks:
    if isinstance(order, str):
        if order.upper() not in ("R", "C"):
            raise ArgumentError(f'order is "{order}"; expected "R" (row-major), "C" (column-major) or a map of ranks')
        numbers = np.arange(extents[0] * extents[1], dtype=np.int64)
        return numbers.reshape(extents, order="C" if order.upper() == "R" else "F")
    return rank_table(order, extents, "order")
