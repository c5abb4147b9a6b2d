"""Local arrays: what callers pass, what the core needs, and what comes back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._core import Comm, Layout
from ._errors import ArgumentError

Array = npt.NDArray[Any]
#: One local array, or those of all ranks of a layout in one process.
Arrays = Array | Sequence[Array]
#: Address and steps in bytes of each local array.
Parts = list[tuple[int, tuple[int, ...]]]


def ranks_held(layout: Layout, comm: Comm, alone: bool) -> list[int]:
    """Return the ranks of a layout whose arrays this process holds, ascending: all, its own one, or none."""
    if alone:
        return [int(rank) for rank in layout.rank_numbers]
    return [comm.rank] if layout.has_rank(comm.rank) else []


def in_order(memory: Array, shape: tuple[int, ...], order: tuple[int, ...]) -> Array:
    """View dense memory as an array whose dimensions lie in this order, slowest first."""
    return memory.reshape([shape[d] for d in order]).transpose(np.argsort(order))


def new_arrays(layout: Layout, ranks: Sequence[int], dtype: np.dtype[Any]) -> list[Array]:
    """Make uninitialised local arrays, halos included."""
    shapes = [layout.padded_shape(rank) for rank in ranks]
    return [in_order(np.empty(math.prod(shape), dtype), shape, layout.dimension_order) for shape in shapes]


def check_arrays(
    arrays: Arrays | None, layout: Layout, ranks: Sequence[int], dtype: np.dtype[Any], what: str, writable: bool = False
) -> list[Array]:
    """Return the arrays of the ranks, as a list, or raise ArgumentError for one that does not fit."""
    if not ranks:
        if arrays is not None:
            raise ArgumentError(f"{what} is given on a rank that is in no set of {layout}; pass None there")
        return []
    given = list(arrays) if isinstance(arrays, (list, tuple)) else [arrays]
    if writable and not all(isinstance(array, np.ndarray) for array in given):
        raise ArgumentError(f"{what} must be NumPy arrays, for anything else would be filled in a copy")
    if isinstance(arrays, (list, tuple)):
        found = [np.asarray(array) for array in arrays]
        if len(found) != len(ranks):
            raise ArgumentError(
                f"{what} has {len(found)} local arrays, but {layout} needs {len(ranks)}; pass one for each rank"
            )
    elif len(ranks) == 1:
        found = [np.asanyarray(arrays)]
    else:
        raise ArgumentError(
            f"{what} is one array, but this process holds all {len(ranks)} ranks of {layout}; "
            f"pass a list of local arrays"
        )
    for rank, array in zip(ranks, found, strict=True):
        shape = layout.padded_shape(rank)
        if array.dtype == object and array.shape == () and array.item() is None:
            raise ArgumentError(f"{what} of rank {rank} is missing; {layout} gives that rank a part")
        if array.shape != shape:
            raise ArgumentError(
                f"{what} of rank {rank} has the shape {array.shape}, but {layout} gives that rank {shape}"
            )
        if array.dtype != dtype:
            raise ArgumentError(
                f"{what} of rank {rank} has dtype {array.dtype}, but the array has {dtype}; convert it with astype"
            )
        if writable and not array.flags.writeable:
            raise ArgumentError(f"{what} of rank {rank} is read-only; pass an array that can be written")
    return found


def parts_of(arrays: list[Array]) -> Parts:
    """Return address and steps of each array."""
    return [(array.__array_interface__["data"][0], array.strides) for array in arrays]
