"""The local arrays of a redistribution: their ranks, their memory, which the node may share, and their type."""

from __future__ import annotations

import math
import operator
from functools import partial
from typing import Any

import numpy as np

from .. import _core
from .._arguments.arrays import LocalArrays, list_local_ranks, view_in_order
from .._arguments.sizes import parse_bytes
from .._arguments.values import Array
from .._arguments.words import shown
from .._base.errors import ArgumentError
from .._calls.guard import call
from .._core import Layout

_MAX_BYTES = 1 << 62


def ranks_taking_part(layout: Layout, comm: _core.Comm, is_alone: bool) -> list[int]:
    """Return the ranks of a layout whose arrays this process holds.

    errors  ArgumentError: the layout has more ranks than the communicator
    """
    end = layout.ranks_end
    if not is_alone and end > comm.size:
        raise ArgumentError(
            f"the layout {layout} has ranks up to {end - 1}, but the communicator has {comm.size} ranks; "
            f"use a communicator of {end} or more"
        )
    return list_local_ranks(layout, comm, is_alone)


def shared_arrays(needed: LocalArrays, comm: _core.Comm, is_alone: bool) -> list[Array]:
    """Make local arrays in memory that the node shares. Collective."""
    layout, ranks, dtype = needed.layout, needed.ranks, needed.dtype
    sizes = [math.prod(layout.padded_shape(rank)) * dtype.itemsize for rank in ranks]
    fail = partial(_core.fail_redistribute, comm=comm)
    memories = [call(fail, _core.shared_bytes, size, comm) for size in (sizes if is_alone else sizes or [0])]
    return [
        view_in_order(memory[:size].view(dtype), layout.padded_shape(rank), layout.dimension_order)
        for memory, size, rank in zip(memories, sizes, ranks, strict=False)
    ]


def to_result(arrays: list[Array], is_alone: bool) -> Any:
    """Return local arrays as callers get them: one array, a list without a communicator, None on a rank without any."""
    if is_alone:
        return arrays[0] if len(arrays) == 1 else arrays
    return arrays[0] if arrays else None


def check_movable_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype.  errors  ArgumentError: its elements cannot be moved as bytes"""
    if dtype.hasobject:
        raise ArgumentError(f"dtype {dtype} holds Python objects, which cannot be moved")
    if dtype.subdtype is not None:
        raise ArgumentError(f"dtype {dtype} is an array itself; add its dimensions to the shape")
    if dtype.itemsize == 0:
        raise ArgumentError(f"dtype {dtype} has elements of no bytes, which cannot be moved")
    return dtype


def format_dtype(dtype: np.dtype[Any]) -> str:
    """Return a dtype as .npy headers spell it."""
    return repr(np.lib.format.dtype_to_descr(dtype)) if dtype.fields else dtype.str


def parse_memory(memory: int | str | None) -> int:
    """Return the staging memory in bytes; 0 for None, which is the default of the core.  errors  ArgumentError"""
    if memory is None:
        return 0
    byte_count = parse_bytes(memory, "memory")
    if isinstance(byte_count, (bool, np.bool_)) or not hasattr(byte_count, "__index__"):
        raise ArgumentError(f"memory={shown(byte_count)} is not a number of bytes; leave it out for 32 MiB")
    number = operator.index(byte_count)
    if not 1 <= number <= _MAX_BYTES:
        raise ArgumentError(f"memory={number} bytes are too {'few' if number < 1 else 'many'}; leave it out for 32 MiB")
    return number


def check_memory(layout: Layout, dtype: np.dtype[Any]) -> None:
    """Check that local arrays of a layout are addressable.  errors  ArgumentError"""
    largest = layout.elements + sum(map(sum, layout.halo))
    if largest * dtype.itemsize > _MAX_BYTES:
        raise ArgumentError(f"{layout} of {dtype} has more bytes than memory can have; use a smaller shape")
