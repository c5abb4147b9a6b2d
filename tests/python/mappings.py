"""Arrays on grids as array_map and proc_map describe them, by brute force."""

from dataclasses import dataclass
from math import prod

import numpy as np

COLLAPSED, BLOCK, CYCLIC, BLOCK_CYCLIC = range(4)


def numbered(shape, dtype, salt=0):
    """Return an array with a different value in each position, as far as its type has enough values."""
    return (
        ((np.arange(prod(shape)) * 7 + salt) % 251 if dtype == "i1" else np.arange(prod(shape)) + 1000 * salt)
        .astype("i8")
        .astype(dtype)
        .reshape(shape, order="F")
    )


def owned_indices(extent, code, block, processors, coordinate):
    """Return the indices of a dimension that a coordinate owns, index by index."""
    width = {BLOCK: -(-extent // processors) or 1, CYCLIC: 1, BLOCK_CYCLIC: block}.get(code)
    if code == COLLAPSED:
        return list(range(extent))
    return [i for i in range(extent) if i // width % processors == coordinate]


def walk(grid, mode, user_map):
    """Return the rank of each coordinate of the grid."""
    by_column = [tuple(reversed(position)) for position in np.ndindex(*reversed(grid))]
    if mode == -1:
        return dict(zip(by_column, user_map, strict=True))
    if mode == 0:
        return {position: rank for rank, position in enumerate(by_column)}
    if mode == 1:
        return {position: rank for rank, position in enumerate(np.ndindex(*grid))}
    path = [()]
    for extent in reversed(grid):  # slower coordinates first; each pass of a faster one turns around
        path = [
            (coordinate, *rest)
            for i, rest in enumerate(path)
            for coordinate in (range(extent) if i % 2 == 0 else reversed(range(extent)))
        ]
    return {position: rank for rank, position in enumerate(path)}


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
            position for position, number in walk(self.grid, self.mode, self.user_map).items() if number == rank
        )
        return [
            owned_indices(*dimension)
            for dimension in zip(self.size, self.codes, self.blocks, self.grid, position, strict=True)
        ]

    def local(self, whole, rank):
        return whole[np.ix_(*self.indices(rank))]


def declare(random, mapping, whole, rank):
    """Return a local array as a program may declare it: its two sizes, the array filled with -1, and this rank's share.

    The array has the sizes of the largest share, or those of this rank's share if the largest then does not fit.  Its
    first dimension may be larger; its two declared sizes are a random decomposition of the sizes.  It may be a vector.
    """
    share = mapping.local(whole, rank)
    shares = [[len(owned) for owned in mapping.indices(other)] for other in range(prod(mapping.grid))]
    largest = tuple(max(extents) for extents in zip(*shares, strict=True))
    way = random.integers(4)
    sizes = None
    declared = share.shape if way == 2 else largest
    if way == 3 or share.size == 0:
        sizes, declared = (share.size + int(random.integers(4)), 1), None
    elif way == 1 and len(largest) > 2 and largest[-1] > 1:  # A(n1, n2, n3) as A(n1 * n2, n3)
        folded = int(random.integers(2, len(largest)))
        sizes = (prod(largest[:folded]), prod(largest[folded:]))
    if sizes is None:
        padded = (declared[0] + int(random.integers(4)), *declared[1:])
        if way != 2 or prod(padded) < prod(largest):
            declared = padded
        more = int(random.integers(3)) if way != 2 else 0
        sizes = (declared[0], prod(declared[1:]) + more)
    array = np.full(prod(sizes), -1, whole.dtype)
    if declared is None:
        return sizes, array, array[: share.size].reshape(share.shape, order="F")
    corner = array[: prod(declared)].reshape(declared, order="F")
    return sizes, array, corner[tuple(slice(extent) for extent in share.shape)]


def random_grid(random, ranks, dimensions):
    """Return `dimensions` factors of the number of ranks."""
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
    """Return a random mix of distributions over 1 to 7 dimensions."""
    if size is None:
        dimensions = int(random.integers(1, 8))
        size = tuple(int(n) for n in random.integers(1, {1: 60, 2: 16, 3: 9, 4: 6}.get(dimensions, 4), dimensions))
    grid = random_grid(random, ranks, len(size))
    codes = [int(random.integers(1 if processors > 1 else 0, 4)) for processors in grid]
    blocks = [int(random.integers(1, 4)) if code == BLOCK_CYCLIC else -1 for code in codes]
    mode = int(random.integers(-1, 3))
    user_map = tuple(int(rank) for rank in random.permutation(ranks))
    return kind(size, tuple(codes), tuple(blocks), tuple(grid), mode, user_map)
