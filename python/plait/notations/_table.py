"""A layout as a table: the owners of the indices of each dimension, and the ranks at each combination of coordinates.

Example: ``(block, cyclic) onto (2, 2)`` of 4 x 4. Dimension 0 has the runs [0, 2) of coordinate 0 and [2, 4) of
coordinate 1. Dimension 1 is a round robin with the block 1: its coordinate 0 owns the indices 0 and 2. `ranks` has the
shape (2, 2, 1): the last axis counts replicas.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .._base.errors import ArgumentError
from .._core import Layout
from . import _spelling, _tiles
from ._make import Ranks, drop_zeros, layout_text, make_error, make_layout, rank_table, spell_gen_block, spell_indirect

#: Maximum size of dimensions that are examined index by index, which needs about 16 bytes per index.
MAX_INDICES = 1 << 30

Numbers = npt.NDArray[np.int64]
Runs = tuple[Numbers, Numbers]


class Dimension:
    """The distribution of the indices of one dimension over its coordinates.

    It is stored in one of two forms. As blocks in a round robin: block b begins at index b * block and belongs to the
    coordinate block_owners[b mod coordinates]. As the `runs` of indices with one owner: their first indices and owners.
    """

    def __init__(
        self, size: int, coordinates: int, block: int = 0, block_owners: Numbers | None = None, runs: Runs | None = None
    ) -> None:
        """Store one of the two forms."""
        self.size = size
        self.coordinates = coordinates
        self.block = block
        self._block_owners = block_owners
        self._runs = runs

    @cached_property
    def _block_owners_used(self) -> Numbers:
        """The owners of the blocks in the first round, or of all blocks if there are fewer."""
        assert self._block_owners is not None
        return self._block_owners[: -(-self.size // self.block)]

    @cached_property
    def runs(self) -> Runs:
        """First index and owner of each run of indices with one owner.  Cost: linear in the runs."""
        if self._runs is not None:
            return self._runs
        assert self._block_owners is not None
        if self.coordinates == 1:
            return np.zeros(min(self.size, 1), np.int64), np.zeros(min(self.size, 1), np.int64)
        starts = np.arange(0, self.size, self.block, dtype=np.int64)
        return starts, self._block_owners[starts // self.block % self.coordinates]

    @cached_property
    def cyclic(self) -> tuple[int, int] | None:
        """Block size and first coordinate if the blocks go to the coordinates in turn; else None."""
        if self.coordinates == 1 or not self.size:
            return max(self.size, 1), 0
        block, owners, is_regular = (
            self.block,
            self._block_owners_used if self._block_owners is not None else self.runs[1],
            True,
        )
        if self._block_owners is None:
            lengths = np.diff(np.append(self.runs[0], self.size))
            block = int(lengths[0])
            is_regular = bool((lengths[:-1] == block).all() and lengths[-1] <= block)
        source = int(owners[0])
        follows_in_turn = (owners == (source + np.arange(len(owners))) % self.coordinates).all()
        return (block, source) if is_regular and follows_in_turn else None

    @cached_property
    def sizes(self) -> tuple[int, ...] | None:
        """Sizes of the blocks if coordinates 0, 1, ... own consecutive blocks in this order; else None."""
        if self._block_owners is not None and self.coordinates > 1 and self.block * self.coordinates < self.size:
            return None
        starts, owners = self.runs
        if (owners[1:] <= owners[:-1]).any():
            return None
        sizes = np.zeros(self.coordinates, dtype=np.int64)
        sizes[owners] = np.diff(np.append(starts, self.size))
        return tuple(sizes.tolist())

    @cached_property
    def change_divisor(self) -> int:
        """Greatest common divisor of all indices at which the owner changes; the size if it never changes."""
        if self._block_owners is not None:
            return self.block if self.coordinates > 1 and self.block < self.size else self.size
        return math.gcd(*self.runs[0].tolist()) or self.size

    @cached_property
    def first_owners(self) -> Numbers:
        """The coordinates in the order of their first indices; coordinates without indices are left out."""
        owners = self._block_owners_used if self._block_owners is not None and self.coordinates > 1 else self.runs[1]
        owners_found, first_positions = np.unique(owners, return_index=True)
        return owners_found[np.argsort(first_positions)]

    def owners(self) -> Numbers:
        """Return the owner of each index."""
        starts, owners = self.runs
        return np.repeat(owners, np.diff(np.append(starts, self.size)))

    def indices(self, coordinate: int) -> Numbers:
        """Return the indices that a coordinate owns."""
        return np.flatnonzero(self.owners() == coordinate)

    def renumbered(self, order: npt.NDArray[np.intp]) -> Dimension:
        """Return the dimension whose coordinate c is order[c] of this one."""
        inverse = np.argsort(order)
        if self._block_owners is not None:
            return Dimension(self.size, self.coordinates, self.block, inverse[self._block_owners])
        return Dimension(self.size, self.coordinates, runs=(self.runs[0], inverse[self.runs[1]]))

    def to_layout(self) -> Layout:
        """Return the layout of this dimension alone, on ranks that are its coordinates."""
        ranks = np.arange(self.coordinates, dtype=np.int64).reshape(-1, 1)
        return make_layout((self.size,), [_spell(self)], ranks)

    def key(self, coordinate: int) -> tuple[Any, ...]:
        """Return a value that is equal for equal sets of indices, whichever form the dimension is stored in."""
        if self._block_owners is not None and self.coordinates > 1:
            first = int(np.flatnonzero(self._block_owners == coordinate)[0]) * self.block
            period = self.block * self.coordinates
            if first >= self.size:
                return ()
            last = first + (self.size - 1 - first) // period * period
            end = min(last + self.block, self.size)
            return (first, end) if first == last else (first, first + self.block, period, end)
        starts, owners = self.runs
        ends = np.append(starts[1:], self.size)
        is_owned = owners == coordinate
        return _key_of_runs(starts[is_owned], ends[is_owned])


@dataclass(frozen=True)
class Table:
    """The contents of a layout by dimension; `ranks` is indexed by the coordinates and the replica."""

    layout: Layout
    dimensions: tuple[Dimension, ...]
    ranks: Ranks
    #: The ranks by grid position, as in the printed layout.
    positions: Ranks
    order: str
    halo: tuple[tuple[int, int], ...]
    periodic: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the array."""
        return tuple(dimension.size for dimension in self.dimensions)

    @property
    def extents(self) -> tuple[int, ...]:
        """Coordinates of each dimension."""
        return tuple(dimension.coordinates for dimension in self.dimensions)

    @property
    def replicas(self) -> int:
        """The number of ranks that hold each element."""
        return int(self.ranks.shape[-1])

    @cached_property
    def _by_rank_order(self) -> npt.NDArray[np.intp]:
        return np.argsort(self.ranks, axis=None)

    def coordinates(self, ranks: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.intp], ...]:
        """Return the coordinates in each dimension of ranks that take part, and their replica numbers."""
        positions = np.searchsorted(self.ranks.ravel(), ranks.ravel(), sorter=self._by_rank_order)
        coordinates = np.unravel_index(self._by_rank_order[positions], self.ranks.shape)
        return tuple(values.reshape(ranks.shape) for values in coordinates)

    def rank_coordinates(self, rank: int) -> tuple[int, ...]:
        """Return the coordinates of one rank.  errors  ArgumentError: the rank is not in the layout"""
        self.layout.local_shape(rank)
        return tuple(int(c) for c in self.coordinates(np.array(rank))[:-1])

    def renumbered(self, orders: Sequence[npt.NDArray[np.intp]]) -> Table:
        """Return the table whose coordinate c of dimension d is orders[d][c] of this one."""
        dimensions = tuple(d.renumbered(order) for d, order in zip(self.dimensions, orders, strict=True))
        return replace(self, dimensions=dimensions, ranks=self.ranks[np.ix_(*orders, np.arange(self.replicas))])

    def by_index(self) -> Table:
        """Return the table with the coordinates of each dimension in the order of their first indices.

        Coordinates without indices come last, by rank.  This form is for notations in which ranks may be anywhere on
        the grid.
        """
        orders = []
        for owners, by_rank in zip((d.first_owners for d in self.dimensions), self._orders_by_rank(), strict=True):
            orders.append(np.concatenate([owners, by_rank[~np.isin(by_rank, owners)]]))
        return self.renumbered(orders)

    def by_rank(self) -> Table:
        """Return the table with the coordinates of each dimension in the order of their ranks.

        This form is for notations that count the ranks along the grid.
        """
        return self.renumbered(self._orders_by_rank())

    def _orders_by_rank(self) -> list[npt.NDArray[np.intp]]:
        lines = (np.moveaxis(self.ranks, d, 0).reshape(extent, -1)[:, 0] for d, extent in enumerate(self.extents))
        return [np.argsort(line) for line in lines]

    def renamed(self, names: dict[int, int]) -> Layout:
        """Return the layout with renamed ranks."""
        table = self.by_index()
        ranks = np.vectorize(names.__getitem__, otypes=[np.int64])(table.ranks)
        if np.array_equal(ranks, table.ranks):
            return self.layout
        return make_layout(
            self.shape,
            [_spell(dimension) for dimension in table.dimensions],
            ranks,
            order=self.order,
            halo=drop_zeros(self.halo),
            periodic=self.periodic,
        )


def _spell(dimension: Dimension) -> str:
    """Return the distribution of a dimension on one grid axis."""
    if dimension.coordinates == 1:
        return "*"
    if dimension.sizes is not None:
        return spell_gen_block(dimension.sizes)
    if dimension.cyclic is not None and not dimension.cyclic[1]:
        return f"cyclic({dimension.cyclic[0]})"
    return spell_indirect(dimension.owners())


@lru_cache(maxsize=8)
def make_table(layout: Layout) -> Table:
    """Return a layout as a table.

    Cost: linear in the ranks; for dimensions with an offset, a reversal, nesting or an index map, and for aligned
    layouts, linear in the indices too.
    """
    text = _spelling.parse(layout)
    ndim = len(text.shape)
    halo = _spelling.parse_pairs(text.options.get("halo", "")) or ((0, 0),) * ndim
    order = text.options.get("order", "C")
    periodic = _spelling.parse_integers(text.options.get("periodic", ""))
    if "template" in text.options:
        numbers = layout.rank_numbers.tolist()
        sets, ranks = _tiles.arrange_in_grid(text.shape, {rank: layout.indices(rank) for rank in numbers})
        dimensions = tuple(
            Dimension(size, len(index_sets), runs=_find_runs(size, list(map(np.asarray, index_sets))))
            for size, index_sets in zip(text.shape, sets, strict=True)
        )
        return Table(layout, dimensions, ranks, ranks, order, halo, periodic)
    positions = find_rank_table(text)
    replicate = _spelling.parse_integers(text.options.get("replicate", ""))
    axes = _grid_axes(text, replicate)
    flat_axes = [axis for dimension_axes in axes for axis in dimension_axes]
    extents = [math.prod(text.grid[axis] for axis in dimension_axes) for dimension_axes in axes]
    replica_axes = [axis for axis in range(len(text.grid)) if axis not in flat_axes]
    replicas = math.prod(text.grid[axis] for axis in replica_axes)
    ranks = positions.transpose(flat_axes + replica_axes).reshape(*extents, replicas)
    source = _complete_entries(_spelling.parse_integers(text.options.get("source", "")), text)
    offset = _complete_entries(_spelling.parse_integers(text.options.get("offset", "")), text)
    reverse = _spelling.parse_integers(text.options.get("reverse", ""))
    dimensions = tuple(
        _make_dimension(layout, ranks, d, _DimensionText(text.dimensions[d], source[d], bool(offset[d]), d in reverse))
        for d in range(ndim)
    )
    return Table(layout, dimensions, ranks, positions, order, halo, periodic)


def find_rank_table(text: _spelling.Spelling) -> Ranks:
    """Return the ranks by grid position."""
    numbering = text.options.get("ranks", "C")
    if numbering == "F":
        return np.arange(math.prod(text.grid), dtype=np.int64).reshape(text.grid, order="F")
    return rank_table(None if numbering == "C" else _spelling.parse_integers(numbering), text.grid, "ranks")


def _grid_axes(text: _spelling.Spelling, replicate: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the grid axes of each dimension, the major one first."""
    if any(level.axes for levels in text.dimensions for level in levels):
        return [tuple(axis for level in levels for axis in level.axes) for levels in text.dimensions]
    free = iter(axis for axis in range(len(text.grid)) if axis not in replicate)
    return [tuple(next(free) for level in levels if level.name != "*") for levels in text.dimensions]


def _complete_entries(values: tuple[int, ...], text: _spelling.Spelling) -> list[int]:
    """Return one entry for each dimension: `values` has entries for all dimensions, or only for distributed ones."""
    if not values or len(values) == len(text.shape):
        return list(values) or [0] * len(text.shape)
    remaining = iter(values)
    return [0 if levels[0].name == "*" else next(remaining) for levels in text.dimensions]


@dataclass(frozen=True)
class _DimensionText:
    """The parts of a layout's text for one dimension."""

    levels: tuple[_spelling.Level, ...]
    source: int
    is_shifted: bool
    is_reversed: bool


def _make_dimension(layout: Layout, ranks: Ranks, d: int, spelled: _DimensionText) -> Dimension:
    size, coordinates = layout.shape[d], int(ranks.shape[d])
    first = spelled.levels[0]
    name, arguments = first.name, _spelling.parse_integers(first.arguments if first.name != "indirect" else "")
    coordinate_numbers = np.arange(coordinates)
    block_owners = (
        spelled.source - coordinate_numbers if spelled.is_reversed else spelled.source + coordinate_numbers
    ) % coordinates
    if coordinates == 1:
        return Dimension(size, 1, max(size, 1), block_owners)
    if len(spelled.levels) == 1 and not spelled.is_shifted:
        if name in ("block", "cyclic"):
            default = max(-(-size // coordinates), 1) if name == "block" else 1
            return Dimension(size, coordinates, arguments[0] if arguments else default, block_owners)
        if name in ("balanced", "gen_block"):
            quotient, remainder = divmod(size, coordinates)
            lengths = np.array(arguments or [quotient + (c < remainder) for c in range(coordinates)], dtype=np.int64)
            filled = lengths > 0
            return Dimension(size, coordinates, runs=((np.cumsum(lengths) - lengths)[filled], block_owners[filled]))
    # Other distributions are examined index by index, through one rank for each coordinate.
    if size > MAX_INDICES:
        raise ArgumentError(
            f"dimension {d} of {layout_text(layout)} is distributed by a map, an offset or in several steps, which "
            f"other notations know index by index; of its {size} indices {MAX_INDICES} at most are looked at"
        )
    line = np.moveaxis(ranks, d, 0).reshape(coordinates, -1)[:, 0]
    sets = [layout.indices(int(rank))[d] for rank in line]
    return Dimension(size, coordinates, runs=_find_runs(size, sets))


def _find_runs(size: int, sets: Sequence[npt.NDArray[np.int64]]) -> Runs:
    owners = np.zeros(size, dtype=np.int64)
    for c, indices in enumerate(sets):
        owners[indices] = c
    starts = np.flatnonzero(np.concatenate((np.ones(min(size, 1), bool), owners[1:] != owners[:-1])))
    return starts, owners[starts]


def _key_of_runs(begins: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> tuple[Any, ...]:
    """Return the key of a set of runs; equidistant runs of one length get the same key as blocks in a round robin."""
    if len(begins) < 2:
        return () if not len(begins) else (int(begins[0]), int(ends[0]))
    lengths, distances = ends - begins, np.diff(begins)
    if (distances == distances[0]).all() and (lengths[:-1] == lengths[0]).all() and lengths[-1] <= lengths[0]:
        return int(begins[0]), int(ends[0]), int(distances[0]), int(ends[-1])
    return begins.tobytes(), ends.tobytes()


def check_features(
    notation: str, table: Table, *, replicas: str | None = None, halo: str | None = None, ranks: str | None = None
) -> None:
    """Raise ArgumentError for a layout with replicas, halos or renamed ranks, with the given reasons."""
    if replicas is not None and table.replicas > 1:
        raise make_error(notation, table.layout, f"{table.replicas} ranks hold each element, and {replicas}")
    if halo is not None and any(low or high for low, high in table.halo):
        raise make_error(notation, table.layout, f"its local arrays have halos, and {halo}")
    if ranks is not None:
        flat_axes = table.by_rank().ranks.ravel()
        if not np.array_equal(flat_axes, np.arange(flat_axes.size)):
            raise make_error(
                notation, table.layout, f"its ranks are not 0, 1, 2, ... in C order of the grid, and {ranks}"
            )


def check_round_trip(notation: str, table: Table, back: Layout, otherwise: str) -> None:
    """Raise ArgumentError if reading the converted layout back gives another layout."""
    if back == table.layout:
        return
    order = make_table(back).order
    if order != table.order:
        raise make_error(notation, table.layout, f"its local arrays have order={table.order}; there it is {order}")
    raise make_error(notation, table.layout, otherwise)
