"""Arrays on grids as array_map and proc_map describe them, by brute force."""

from dataclasses import dataclass
from math import prod

import numpy as np

COLLAPSED, BLOCK, CYCLIC, BLOCK_CYCLIC = range(4)


def numbered(shape, dtype, salt=0):
    """An array with a different value in each place, as far as its type has so many."""
    return (
        ((np.arange(prod(shape)) * 7 + salt) % 251 if dtype == "i1" else np.arange(prod(shape)) + 1000 * salt)
        .astype("i8")
        .astype(dtype)
        .reshape(shape, order="F")
    )


def owned(extent, code, block, processors, coordinate):
    """The indices of a dimension that a coordinate owns, index by index."""
    width = {BLOCK: -(-extent // processors) or 1, CYCLIC: 1, BLOCK_CYCLIC: block}.get(code)
    if code == COLLAPSED:
        return list(range(extent))
    return [i for i in range(extent) if i // width % processors == coordinate]


def walk(grid, mode, user_map):
    """The rank of each coordinate of the grid."""
    by_column = [tuple(reversed(place)) for place in np.ndindex(*reversed(grid))]
    if mode == -1:
        return dict(zip(by_column, user_map, strict=True))
    if mode == 0:
        return {place: rank for rank, place in enumerate(by_column)}
    if mode == 1:
        return {place: rank for rank, place in enumerate(np.ndindex(*grid))}
    path = [()]
    for extent in reversed(grid):  # slower coordinates first; each pass of a faster one turns around
        path = [
            (own, *rest)
            for i, rest in enumerate(path)
            for own in (range(extent) if i % 2 == 0 else reversed(range(extent)))
        ]
    return {place: rank for rank, place in enumerate(path)}


@dataclass
class Mapping:
    """An array on a grid: what array_map and proc_map are given."""

    size: tuple
    codes: tuple
    blocks: tuple
    grid: tuple
    mode: int
    user_map: tuple

    def indices(self, rank):
        """The indices of each dimension that a rank owns."""
        place = next(place for place, number in walk(self.grid, self.mode, self.user_map).items() if number == rank)
        return [
            owned(*dimension) for dimension in zip(self.size, self.codes, self.blocks, self.grid, place, strict=True)
        ]

    def local(self, whole, rank):
        return whole[np.ix_(*self.indices(rank))]


def random_grid(random, ranks, dimensions):
    """So many factors of the number of ranks."""
    grid = [1] * dimensions
    rest, factor = ranks, 2
    while rest > 1:
        if rest % factor == 0:
            grid[random.integers(dimensions)] *= factor
            rest //= factor
        else:
            factor += 1
    return grid


def random_mapping(random, ranks, size=None, kind=Mapping):
    """Any mix of distributions over 1 to 7 dimensions."""
    if size is None:
        dimensions = int(random.integers(1, 8))
        size = tuple(int(n) for n in random.integers(1, {1: 60, 2: 16, 3: 9, 4: 6}.get(dimensions, 4), dimensions))
    grid = random_grid(random, ranks, len(size))
    codes = [int(random.integers(1 if processors > 1 else 0, 4)) for processors in grid]
    blocks = [int(random.integers(1, 4)) if code == BLOCK_CYCLIC else -1 for code in codes]
    mode = int(random.integers(-1, 3))
    user_map = tuple(int(rank) for rank in random.permutation(ranks))
    return kind(size, tuple(codes), tuple(blocks), tuple(grid), mode, user_map)
