"""Which rank owns which elements by array_map and proc_map, calls of the 1993 primitives, computed index by index.

array_map distributes the dimensions of an array over a grid of processors; proc_map assigns a rank to each position of
the grid. All arrays are in Fortran order.
"""

from dataclasses import dataclass
from math import prod

import numpy as np

COLLAPSED, BLOCK, CYCLIC, BLOCK_CYCLIC = range(4)


def make_distinct_array(shape, dtype, salt=0):
    """Return an array with a different value in each position, as far as its type has enough values.

    salt  shifts all values, so that arrays of one shape differ
    """
    return (
        ((np.arange(prod(shape)) * 7 + salt) % 251 if dtype == "i1" else np.arange(prod(shape)) + 1000 * salt)
        .astype("i8")
        .astype(dtype)
        .reshape(shape, order="F")
    )


def owned_indices(extent, code, block, processors, coordinate):
    """Return the indices of a dimension that a coordinate owns, index by index."""
    # A block distribution is cyclic with blocks of ceil(extent / processors) elements.
    width = {BLOCK: -(-extent // processors) or 1, CYCLIC: 1, BLOCK_CYCLIC: block}.get(code)
    if code == COLLAPSED:
        return list(range(extent))
    return [i for i in range(extent) if i // width % processors == coordinate]


def rank_by_position(grid, mode, user_map):
    """Return the rank at each grid position, by the mode of proc_map.

    Modes: -1 the user's map, 0 column by column, 1 row by row, 2 a snake: like 0, but every second pass is reversed.
    """
    by_column = [tuple(reversed(position)) for position in np.ndindex(*reversed(grid))]
    if mode == -1:
        return dict(zip(by_column, user_map, strict=True))
    if mode == 0:
        return {position: rank for rank, position in enumerate(by_column)}
    if mode == 1:
        return {position: rank for rank, position in enumerate(np.ndindex(*grid))}
    snake = [()]
    for extent in reversed(grid):  # slower coordinates first; each pass of a faster one turns around
        snake = [
            (coordinate, *rest)
            for i, rest in enumerate(snake)
            for coordinate in (range(extent) if i % 2 == 0 else reversed(range(extent)))
        ]
    return {position: rank for rank, position in enumerate(snake)}


@dataclass
class Mapping:
    """An array on a grid: the arguments of array_map and proc_map."""

    size: tuple
    codes: tuple
    blocks: tuple
    grid: tuple
    mode: int
    user_map: tuple

    def indices(self, rank):
        """Return the indices of each dimension that a rank owns."""
        position = next(
            position
            for position, number in rank_by_position(self.grid, self.mode, self.user_map).items()
            if number == rank
        )
        return [
            owned_indices(*dimension)
            for dimension in zip(self.size, self.codes, self.blocks, self.grid, position, strict=True)
        ]

    def local(self, global_array, rank):
        """Return the elements of a global array that a rank owns."""
        return global_array[np.ix_(*self.indices(rank))]


def declare_local_array(random, mapping, global_array, rank):
    """Return a local array as a Fortran program may declare it: (two sizes, array of -1, view of this rank's share).

    The primitives get two sizes whatever the dimensions, so A(n1, n2, n3) is declared as A(n1, n2 * n3) or
    A(n1 * n2, n3). The form is drawn: an array for the largest share of all ranks ("plain" or "folded"), one for the
    share of this rank alone ("own"), or a vector. Plain and own arrays may have a longer first dimension.
    """
    share = mapping.local(global_array, rank)
    shares = [[len(owned) for owned in mapping.indices(other)] for other in range(prod(mapping.grid))]
    largest = tuple(max(extents) for extents in zip(*shares, strict=True))
    form = ("plain", "folded", "own", "vector")[random.integers(4)]
    sizes = None
    declared = share.shape if form == "own" else largest
    if form == "vector" or share.size == 0:
        sizes, declared = (share.size + int(random.integers(4)), 1), None
    elif form == "folded" and len(largest) > 2 and largest[-1] > 1:  # A(n1, n2, n3) as A(n1 * n2, n3)
        folded = int(random.integers(2, len(largest)))
        sizes = (prod(largest[:folded]), prod(largest[folded:]))
    if sizes is None:
        padded = (declared[0] + int(random.integers(4)), *declared[1:])
        # An array for the share of this rank alone must stay smaller than the largest share.
        if form != "own" or prod(padded) < prod(largest):
            declared = padded
        extra_columns = int(random.integers(3)) if form != "own" else 0
        sizes = (declared[0], prod(declared[1:]) + extra_columns)
    array = np.full(prod(sizes), -1, global_array.dtype)
    if declared is None:
        return sizes, array, array[: share.size].reshape(share.shape, order="F")
    corner = array[: prod(declared)].reshape(declared, order="F")
    return sizes, array, corner[tuple(slice(extent) for extent in share.shape)]


def random_grid(random, ranks, dimensions):
    """Return a grid of `dimensions` extents whose product is the number of ranks."""
    grid = [1] * dimensions
    quotient, factor = ranks, 2
    while quotient > 1:
        if quotient % factor == 0:
            grid[random.integers(dimensions)] *= factor
            quotient //= factor
        else:
            factor += 1
    return grid


def random_mapping(random, ranks, size=None, kind=Mapping):
    """Return a random mapping: an array of `size`, or of 1 to 7 dimensions, with a random distribution in each."""
    if size is None:  # more dimensions have smaller extents, so that no array is large
        dimensions = int(random.integers(1, 8))
        size = tuple(int(n) for n in random.integers(1, {1: 60, 2: 16, 3: 9, 4: 6}.get(dimensions, 4), dimensions))
    grid = random_grid(random, ranks, len(size))
    codes = [int(random.integers(1 if processors > 1 else 0, 4)) for processors in grid]
    blocks = [int(random.integers(1, 4)) if code == BLOCK_CYCLIC else -1 for code in codes]
    mode = int(random.integers(-1, 3))
    user_map = tuple(int(rank) for rank in random.permutation(ranks))
    return kind(size, tuple(codes), tuple(blocks), tuple(grid), mode, user_map)
