"""Makes a layout from the parts of all ranks, each a product of index sets, by arranging them in a grid.

Example: rank 0 owns rows {0, 1} and columns {0}, rank 1 rows {0, 1} and columns {1}, of 2 x 2 elements. Dimension 0 has
one index set, dimension 1 has two, so the ranks form a grid of 1 x 2: `2x2 (*, block) onto (2)`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from .._base.errors import ArgumentError
from .._core import Layout
from ._make import Ranks, make_layout, spell_gen_block, spell_indirect

#: Consecutive indices, as a range with stride 1, or ascending indices, as an array.
Indices = range | npt.NDArray[np.int64]


def make_tiled_layout(shape: Sequence[int], parts: Mapping[int, Sequence[Indices]], order: str | None = None) -> Layout:
    """Return the layout in which each rank owns the product of its index sets.

    Ranks with equal parts hold replicas.  Raises ArgumentError if other parts overlap, if an index belongs to no rank,
    or if the parts do not form a grid.  Cost: linear in ranks and indices; constant for a range.
    """
    sets, table = arrange_in_grid(shape, parts)
    dist = [spell(size, dimension, d) for d, (size, dimension) in enumerate(zip(shape, sets, strict=True))]
    return make_layout(shape, dist, table, order=order)


def arrange_in_grid(shape: Sequence[int], parts: Mapping[int, Sequence[Indices]]) -> tuple[list[list[Indices]], Ranks]:
    """Return the index sets of the coordinates of each dimension, and the ranks by coordinates and replica."""
    keys = {rank: tuple(_make_key(indices) for indices in part) for rank, part in parts.items()}
    sets: list[list[Indices]] = []
    numbers: list[dict[object, int]] = []
    for d in range(len(shape)):
        sets_by_key = {keys[rank][d]: part[d] for rank, part in parts.items()}
        filled = sorted((key for key in sets_by_key if key is not None), key=lambda key: int(sets_by_key[key][0]))
        sets.append([sets_by_key[key] for key in filled])
        numbers.append({key: c for c, key in enumerate(filled)})
    holders: dict[tuple[object, ...], list[int]] = {}
    for rank in sorted(keys):
        holders.setdefault(keys[rank], []).append(rank)
    spare, replicas = _count_spare_coordinates(holders, [len(dimension_sets) for dimension_sets in sets])
    extents = [len(dimension_sets) + spare_count for dimension_sets, spare_count in zip(sets, spare, strict=True)]
    table = np.full((*extents, replicas), -1, dtype=np.int64)
    for key, ranks in holders.items():
        coordinates = [
            range(len(sets[d]), extents[d]) if part is None else range(numbers[d][part], numbers[d][part] + 1)
            for d, part in enumerate(key)
        ]
        positions = list(itertools.product(*coordinates, range(replicas)))
        if len(positions) != len(ranks):
            raise _make_grid_error(
                f"{len(ranks)} ranks, {ranks[0]} among them, hold one part, and {len(positions)} should"
            )
        for position, rank in zip(positions, ranks, strict=True):
            table[position] = rank
    if (table < 0).any():
        raise _make_grid_error("a combination of the parts of single dimensions belongs to no rank")
    for dimension_sets, spare_count in zip(sets, spare, strict=True):
        dimension_sets.extend([range(0)] * spare_count)
    return sets, table


def spell(size: int, sets: Sequence[Indices], dimension: int) -> str:
    """Return the distribution that gives coordinate c the c-th of these sets."""
    where = f"dimension {dimension}"
    sets = [_to_range(indices) for indices in sets]
    if all(isinstance(indices, range) for indices in sets) and _are_consecutive(size, sets, where):
        return spell_gen_block(len(indices) for indices in sets)
    owners = np.full(size, -1, dtype=np.int64)
    for c, indices in enumerate(sets):
        selection = slice(indices.start, indices.stop) if isinstance(indices, range) else indices
        conflicts = np.flatnonzero(owners[selection] >= 0)
        if len(conflicts):
            raise ArgumentError(
                f"{where}: index {int(np.arange(size)[selection][conflicts[0]])} has more than one owner"
            )
        owners[selection] = c
    missing = np.flatnonzero(owners < 0)
    if len(missing):
        raise ArgumentError(f"{where}: index {int(missing[0])} belongs to no rank")
    return spell_indirect(owners) if len(sets) > 1 else "*"


def _are_consecutive(size: int, sets: Sequence[Indices], where: str) -> bool:
    """Return True if ranges follow each other; raise ArgumentError if they leave out or repeat an index."""
    next_index, ascending = 0, True
    filled = [indices for indices in sets if len(indices)]
    for indices in filled:
        ascending = ascending and int(indices[0]) == next_index
        next_index = int(indices[-1]) + 1
    if ascending and next_index == size:
        return True
    next_index = 0
    for indices in sorted(filled, key=lambda indices: int(indices[0])):
        if int(indices[0]) > next_index:
            raise ArgumentError(f"{where}: index {next_index} belongs to no rank")
        if int(indices[0]) < next_index:
            raise ArgumentError(f"{where}: index {int(indices[0])} has more than one owner")
        next_index = int(indices[-1]) + 1
    if next_index != size:
        fault = "belongs to no rank" if next_index < size else f"is out of bounds for a dimension of size {size}"
        raise ArgumentError(f"{where}: index {min(next_index, size)} {fault}")
    return False


def _to_range(indices: Indices) -> Indices:
    """Return consecutive indices as a range."""
    if isinstance(indices, range) or (len(indices) and int(indices[-1]) - int(indices[0]) + 1 != len(indices)):
        return indices
    return range(int(indices[0]), int(indices[-1]) + 1) if len(indices) else range(0)


def _make_key(indices: Indices) -> object:
    """Return a value that is equal for equal index sets; None for an empty set."""
    if not len(indices):
        return None
    first, last = int(indices[0]), int(indices[-1])
    if last - first + 1 == len(indices):
        return first, last
    return np.ascontiguousarray(indices).tobytes()


def _count_spare_coordinates(
    holders: Mapping[tuple[object, ...], Sequence[int]], filled: Sequence[int]
) -> tuple[list[int], int]:
    """Return the number of coordinates of each dimension without indices, and the number of replicas."""
    total = sum(map(len, holders.values()))
    spare = [0] * len(filled)
    empty = [d for d, count in enumerate(filled) if not count]
    for d, count in enumerate(filled):
        if not count:
            continue
        counts_by_others: dict[tuple[object, ...], tuple[int, int]] = {}
        for key, ranks in holders.items():
            others = (*key[:d], *key[d + 1 :])
            empty_count, filled_count = counts_by_others.get(others, (0, 0))
            counts_by_others[others] = (
                (empty_count + len(ranks), filled_count) if key[d] is None else (empty_count, filled_count + len(ranks))
            )
        empty_count, filled_count = next(iter(counts_by_others.values()))
        if not filled_count or empty_count * count % filled_count:
            raise _make_grid_error(f"{empty_count} of {empty_count + filled_count} ranks own nothing of dimension {d}")
        spare[d] = empty_count * count // filled_count
    cells = math.prod(count + spare_count for count, spare_count in zip(filled, spare, strict=True) if count)
    if total % cells:
        raise _make_grid_error(f"there are {total} ranks for {cells} parts")
    # Without elements, replicas cannot be distinguished from empty coordinates.
    for d in empty:
        spare[d] = total // cells if d == empty[0] else 1
    return spare, 1 if empty else total // cells


def _make_grid_error(reason: str) -> ArgumentError:
    return ArgumentError(
        f"the parts of the ranks form no grid: {reason}; in a layout every combination of the parts of single "
        "dimensions belongs to equally many ranks"
    )
