"""One dimension: the coordinate that owns each index.

A coordinate is a position along the grid axes of a distribution, as one number: 8 indices distributed by "cyclic" on 2
coordinates have the owners 0, 1, 0, 1, 0, 1, 0, 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .spec import Stage


class InconsistentError(ValueError):
    """The parts of a layout do not fit together, such as block sizes whose sum is not the size of the dimension."""


def number_blocks(stage: Stage, size: int, coordinates: int) -> list[int]:
    """Return the number of the block that contains each index."""
    if stage.kind == "block":
        length = stage.block if stage.block is not None else max(math.ceil(size / coordinates), 1)
        if length * coordinates < size:
            raise InconsistentError(f"block({length}) on {coordinates} coordinates have less than {size}")
        return [index // length for index in range(size)]
    if stage.kind == "cyclic":
        return [index // (stage.block or 1) for index in range(size)]
    if stage.kind == "balanced":
        lengths = [size // coordinates + (1 if c < size % coordinates else 0) for c in range(coordinates)]
    elif stage.kind == "gen_block":
        lengths = list(stage.sizes)
        if len(lengths) != coordinates or sum(lengths) != size:
            raise InconsistentError(f"gen_block{stage.sizes} for {size} indices on {coordinates} coordinates")
    else:
        raise InconsistentError(stage.kind)
    return [block for block, length in enumerate(lengths) for _ in range(length)]


def find_owners(stage: Stage, size: int, coordinates: int, source: int = 0, reverse: bool = False) -> list[int]:
    """Return the coordinate that owns each index; block b belongs to source + b, or to source - b if reversed."""
    if stage.kind == "indirect":
        owners = [owner for owner, count in stage.owners for _ in range(count)]
        if stage.repeats and owners:
            owners = [owners[index % len(owners)] for index in range(size)]
        if len(owners) != size or any(owner >= coordinates for owner in owners):
            raise InconsistentError(f"indirect map of {len(owners)} for {size} indices on {coordinates} coordinates")
        return owners
    step = -1 if reverse else 1
    return [(source + step * block) % coordinates for block in number_blocks(stage, size, coordinates)]


def find_nested_owners(
    stages: Sequence[Stage], size: int, grid: Sequence[int], source: int = 0, reverse: bool = False
) -> list[tuple[int, ...]]:
    """Return the coordinates, one for each stage, that own each index.

    A later stage distributes the positions that the stages before it have given to one coordinate.
    """
    if not stages:
        return [()] * size
    first = stages[0]
    coordinates = math.prod(grid[axis] for axis in first.axes)
    owners = find_owners(first, size, coordinates, source, reverse)
    result: list[tuple[int, ...]] = [()] * size
    for coordinate in range(coordinates):
        positions = [index for index, owner in enumerate(owners) if owner == coordinate]
        inner = find_nested_owners(stages[1:], len(positions), grid)
        for index, inner_coordinates in zip(positions, inner, strict=True):
            result[index] = (coordinate, *inner_coordinates)
    return result
