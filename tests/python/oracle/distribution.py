"""One dimension: the coordinate that owns each index."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .spec import Stage


class UnfitError(ValueError):
    """The parts of a layout do not fit together, such as block sizes whose sum is not the size of the dimension."""


def block_numbers(stage: Stage, size: int, coordinates: int) -> list[int]:
    """Return the number of the block that each index is in; blocks are distributed to the coordinates in turn."""
    if stage.kind == "block":
        length = stage.block if stage.block is not None else max(math.ceil(size / coordinates), 1)
        if length * coordinates < size:
            raise UnfitError(f"block({length}) on {coordinates} coordinates holds less than {size}")
        return [index // length for index in range(size)]
    if stage.kind == "cyclic":
        return [index // (stage.block or 1) for index in range(size)]
    if stage.kind == "balanced":
        lengths = [size // coordinates + (1 if c < size % coordinates else 0) for c in range(coordinates)]
    elif stage.kind == "gen_block":
        lengths = list(stage.sizes)
        if len(lengths) != coordinates or sum(lengths) != size:
            raise UnfitError(f"gen_block{stage.sizes} for {size} indices on {coordinates} coordinates")
    else:
        raise UnfitError(stage.kind)
    return [block for block, length in enumerate(lengths) for _ in range(length)]


def find_owners(stage: Stage, size: int, coordinates: int, source: int = 0, reverse: bool = False) -> list[int]:
    """Return the coordinate that owns each index."""
    if stage.kind == "indirect":
        owners = [owner for owner, count in stage.owners for _ in range(count)]
        if stage.repeats and owners:
            owners = [owners[index % len(owners)] for index in range(size)]
        if len(owners) != size or any(owner >= coordinates for owner in owners):
            raise UnfitError(f"indirect map of {len(owners)} for {size} indices on {coordinates} coordinates")
        return owners
    step = -1 if reverse else 1
    return [(source + step * block) % coordinates for block in block_numbers(stage, size, coordinates)]


def find_nested_owners(
    stages: Sequence[Stage], size: int, grid: Sequence[int], source: int = 0, reverse: bool = False
) -> list[tuple[int, ...]]:
    """Return the coordinates, one for each stage, that own each index.

    A later stage distributes the positions that the stages before it give to a coordinate.
    """
    if not stages:
        return [()] * size
    first = stages[0]
    owners = find_owners(first, size, math.prod(grid[axis] for axis in first.axes), source, reverse)
    result: list[tuple[int, ...]] = [()] * size
    for coordinate in range(math.prod(grid[axis] for axis in first.axes)):
        positions = [index for index, owner in enumerate(owners) if owner == coordinate]
        inner = find_nested_owners(stages[1:], len(positions), grid)
        for index, rest in zip(positions, inner, strict=True):
            result[index] = (coordinate, *rest)
    return result
