"""Parts of all ranks, each a product of index sets, put together as a grid."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from .._base.errors import ArgumentError
from .._core import Layout
from ._make import Ranks, gen_block, indirect, make

#: Consecutive indices (a range of step 1), or ascending ones.
Indices = range | npt.NDArray[np.int64]


def tile(shape: Sequence[int], parts: Mapping[int, Sequence[Indices]], order: str | None = None) -> Layout:
    """Return the layout in which each rank owns the product of its index sets.

    Ranks with equal parts hold copies.  Raises ArgumentError where the parts overlap otherwise, leave out an index, or
    do not form a grid.  Cost: linear in ranks and indices; only the ends of ranges are looked at.
    """
    sets, table = arrange(shape, parts)
    dist = [spell(size, dimension, d) for d, (size, dimension) in enumerate(zip(shape, sets, strict=True))]
    return make(shape, dist, table, order=order)


def arrange(shape: Sequence[int], parts: Mapping[int, Sequence[Indices]]) -> tuple[list[list[Indices]], Ranks]:
    """Return the index sets of the coordinates of each dimension, and the ranks by coordinates and replica."""
    keys = {rank: tuple(_key(indices) for indices in part) for rank, part in parts.items()}
    sets: list[list[Indices]] = []
    numbers: list[dict[object, int]] = []
    for d in range(len(shape)):
        found = {keys[rank][d]: part[d] for rank, part in parts.items()}
        filled = sorted((key for key in found if key is not None), key=lambda key: int(found[key][0]))
        sets.append([found[key] for key in filled])
        numbers.append({key: c for c, key in enumerate(filled)})
    holders: dict[tuple[object, ...], list[int]] = {}
    for rank in sorted(keys):
        holders.setdefault(keys[rank], []).append(rank)
    spare, replicas = _spare_coordinates(holders, [len(found) for found in sets])
    extents = [len(found) + more for found, more in zip(sets, spare, strict=True)]
    table = np.full((*extents, replicas), -1, dtype=np.int64)
    for key, ranks in holders.items():
        coordinates = [
            range(len(sets[d]), extents[d]) if part is None else range(numbers[d][part], numbers[d][part] + 1)
            for d, part in enumerate(key)
        ]
        positions = list(itertools.product(*coordinates, range(replicas)))
        if len(positions) != len(ranks):
            raise _no_grid(f"{len(ranks)} ranks, {ranks[0]} among them, hold one part, and {len(positions)} should")
        for position, rank in zip(positions, ranks, strict=True):
            table[position] = rank
    if (table < 0).any():
        raise _no_grid("a combination of the parts of single dimensions belongs to no rank")
    for own, more in zip(sets, spare, strict=True):
        own.extend([range(0)] * more)
    return sets, table


def spell(size: int, sets: Sequence[Indices], dimension: int) -> str:
    """Return the distribution that gives coordinate c the c-th of these sets."""
    where = f"dimension {dimension}"
    sets = [_as_range(indices) for indices in sets]
    if all(isinstance(indices, range) for indices in sets) and _in_a_row(size, sets, where):
        return gen_block(len(indices) for indices in sets)
    owners = np.full(size, -1, dtype=np.int64)
    for c, indices in enumerate(sets):
        chosen = slice(indices.start, indices.stop) if isinstance(indices, range) else indices
        taken = np.flatnonzero(owners[chosen] >= 0)
        if len(taken):
            raise ArgumentError(f"{where}: index {int(np.arange(size)[chosen][taken[0]])} has more than one owner")
        owners[chosen] = c
    missing = np.flatnonzero(owners < 0)
    if len(missing):
        raise ArgumentError(f"{where}: index {int(missing[0])} belongs to no rank")
    return indirect(owners) if len(sets) > 1 else "*"


def _in_a_row(size: int, sets: Sequence[Indices], where: str) -> bool:
    """Return True if ranges follow each other; raise ArgumentError if they leave out or repeat an index."""
    reached, ascending = 0, True
    filled = [indices for indices in sets if len(indices)]
    for indices in filled:
        ascending = ascending and int(indices[0]) == reached
        reached = int(indices[-1]) + 1
    if ascending and reached == size:
        return True
    reached = 0
    for indices in sorted(filled, key=lambda indices: int(indices[0])):
        if int(indices[0]) > reached:
            raise ArgumentError(f"{where}: index {reached} belongs to no rank")
        if int(indices[0]) < reached:
            raise ArgumentError(f"{where}: index {int(indices[0])} has more than one owner")
        reached = int(indices[-1]) + 1
    if reached != size:
        fault = "belongs to no rank" if reached < size else f"lies outside its {size} indices"
        raise ArgumentError(f"{where}: index {min(reached, size)} {fault}")
    return False


def _as_range(indices: Indices) -> Indices:
    """Return consecutive indices as a range."""
    if isinstance(indices, range) or (len(indices) and int(indices[-1]) - int(indices[0]) + 1 != len(indices)):
        return indices
    return range(int(indices[0]), int(indices[-1]) + 1) if len(indices) else range(0)


def _key(indices: Indices) -> object:
    """Return something equal for equal sets; None for an empty one."""
    if not len(indices):
        return None
    first, last = int(indices[0]), int(indices[-1])
    if last - first + 1 == len(indices):
        return first, last
    return np.ascontiguousarray(indices).tobytes()


def _spare_coordinates(
    holders: Mapping[tuple[object, ...], Sequence[int]], filled: Sequence[int]
) -> tuple[list[int], int]:
    """Return the number of coordinates of each dimension without indices, and the number of replicas."""
    total = sum(map(len, holders.values()))
    spare = [0] * len(filled)
    empty = [d for d, count in enumerate(filled) if not count]
    for d, count in enumerate(filled):
        if not count:
            continue
        by_rest: dict[tuple[object, ...], tuple[int, int]] = {}
        for key, ranks in holders.items():
            rest = (*key[:d], *key[d + 1 :])
            none, some = by_rest.get(rest, (0, 0))
            by_rest[rest] = (none + len(ranks), some) if key[d] is None else (none, some + len(ranks))
        none, some = next(iter(by_rest.values()))
        if not some or none * count % some:
            raise _no_grid(f"{none} of {none + some} ranks own nothing of dimension {d}")
        spare[d] = none * count // some
    cells = math.prod(count + more for count, more in zip(filled, spare, strict=True) if count)
    if total % cells:
        raise _no_grid(f"there are {total} ranks for {cells} parts")
    # Without elements, replicas cannot be distinguished from empty coordinates.
    for d in empty:
        spare[d] = total // cells if d == empty[0] else 1
    return spare, 1 if empty else total // cells


def _no_grid(reason: str) -> ArgumentError:
    return ArgumentError(
        f"the parts of the ranks form no grid: {reason}; in a layout every combination of the parts of single "
        "dimensions belongs to equally many ranks"
    )
