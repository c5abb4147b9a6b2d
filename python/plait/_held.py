"""Local arrays of layouts that need not have all ranks: made, and checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._arrays import Array, Arrays
from ._core import Layout
from ._errors import ArgumentError


def checked_layout(layout: Layout, what: str) -> Layout:
    if not isinstance(layout, Layout):
        raise ArgumentError(f"{what} is a {type(layout).__name__}; pass a plait.Layout")
    return layout


def rank_numbers_of(layout: Layout) -> list[int]:
    """Return the ranks of a layout, ascending."""
    numbers = getattr(layout, "rank_numbers", None)
    return list(range(layout.size)) if numbers is None else [int(number) for number in numbers]


def padded_shape(layout: Layout, rank: int) -> tuple[int, ...]:
    """Return the shape of the local array that is passed around, halo included."""
    shape: tuple[int, ...] = getattr(layout, "padded_shape", layout.local_shape)(rank)
    return shape


def ranks_held(layout: Layout, comm: _core.Comm, alone: bool) -> list[int]:
    """Return the ranks of a layout whose arrays this process holds."""
    numbers = rank_numbers_of(checked_layout(layout, "layout"))
    if alone:
        return numbers
    if numbers[-1] >= comm.size:
        raise ArgumentError(
            f"the layout {layout} is for {numbers[-1] + 1} ranks, but the communicator has {comm.size}; "
            f"use a communicator of {numbers[-1] + 1} or more"
        )
    return [comm.rank] if comm.rank in numbers else []


def _order(layout: Layout, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the dimensions of a local array, slowest in memory first."""
    if isinstance(layout.order, str):
        return tuple(range(len(shape))) if layout.order == "C" else tuple(reversed(range(len(shape))))
    return tuple(layout.order)


def in_order(flat: Array, layout: Layout, rank: int) -> Array:
    """View dense memory as the local array of a rank."""
    shape = padded_shape(layout, rank)
    order = _order(layout, shape)
    return flat.reshape([shape[d] for d in order]).transpose([order.index(d) for d in range(len(shape))])


def new_arrays(layout: Layout, ranks: Sequence[int], dtype: np.dtype[Any]) -> list[Array]:
    """Make uninitialised local arrays."""
    return [in_order(np.empty(np.prod(padded_shape(layout, rank), dtype=int), dtype), layout, rank) for rank in ranks]


def shared_arrays(
    layout: Layout, ranks: Sequence[int], dtype: np.dtype[Any], comm: _core.Comm, alone: bool
) -> list[Array]:
    """Make local arrays in memory that the node shares. Collective."""
    sizes = [int(np.prod(padded_shape(layout, rank), dtype=int)) * dtype.itemsize for rank in ranks]
    memories = [_core.shared_bytes(size, comm) for size in (sizes if alone else sizes or [0])]
    return [
        in_order(memory[:size].view(dtype), layout, rank)
        for memory, size, rank in zip(memories, sizes, ranks, strict=False)
    ]


def as_given(arrays: list[Array], alone: bool) -> Any:
    if alone:
        return arrays[0] if len(arrays) == 1 else arrays
    return arrays[0] if arrays else None


def checked_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype.hasobject:
        raise ArgumentError(f"dtype {dtype} holds Python objects, which cannot be moved")
    if dtype.itemsize == 0:
        raise ArgumentError(f"dtype {dtype} has elements of no bytes, which cannot be moved")
    return dtype


def name_of(dtype: np.dtype[Any]) -> str:
    return repr(np.lib.format.dtype_to_descr(dtype)) if dtype.fields else dtype.str


def memory_of(memory: int | None) -> int:
    if memory is None:
        return 0
    if memory < 1:
        raise ArgumentError(f"memory={memory} bytes are too few; leave it out for 32 MiB")
    return int(memory)


def checked_arrays(
    given: Arrays | None, layout: Layout, ranks: Sequence[int], dtype: np.dtype[Any], what: str, writable: bool
) -> list[Array]:
    """Return the arrays of the ranks, as a list, or raise ArgumentError for one that does not fit."""
    if not ranks:
        if given is not None:
            raise ArgumentError(f"{what} is given on a rank that {layout} has not; pass None there")
        return []
    several = isinstance(given, (list, tuple))
    if not several and len(ranks) > 1:
        raise ArgumentError(
            f"{what} is one array, but this process holds all {len(ranks)} ranks of {layout}; "
            f"pass a list of local arrays"
        )
    items: list[Any] = list(given) if isinstance(given, (list, tuple)) else [given]
    if len(items) != len(ranks):
        raise ArgumentError(
            f"{what} has {len(items)} local arrays, but {layout} needs {len(ranks)}; pass one for each rank"
        )
    if writable and not all(isinstance(item, np.ndarray) for item in items):
        raise ArgumentError(f"{what} must be NumPy arrays, for anything else would be filled in a copy")
    found = []
    for rank, item in zip(ranks, items, strict=True):
        if item is None:
            raise ArgumentError(f"{what} of rank {rank} is missing; {layout} gives that rank a part")
        array = np.asanyarray(item)
        shape = padded_shape(layout, rank)
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
        found.append(array)
    return found
