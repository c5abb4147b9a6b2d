"""The arrays of a redistribution: which ranks hold them, in shared memory, and their type."""

from __future__ import annotations

import math
import operator
from functools import partial
from typing import Any

import numpy as np

from .. import _core
from .._arguments.arrays import LocalArrays, in_order, ranks_held
from .._arguments.sizes import parse_bytes
from .._arguments.values import Array
from .._arguments.words import shown
from .._base.errors import ArgumentError
from .._calls.guard import call
from .._core import Layout

_MAX_BYTES = 1 << 62


def ranks_taking_part(layout: Layout, comm: _core.Comm, alone: bool) -> list[int]:
    """Return the ranks of a layout whose arrays this process holds; ArgumentError if the layout has too many ranks."""
    end = layout.ranks_end
    if not alone and end > comm.size:
        raise ArgumentError(
            f"the layout {layout} has ranks up to {end - 1}, but the communicator has {comm.size} ranks; "
            f"use a communicator of {end} or more"
        )
    return ranks_held(layout, comm, alone)


def shared_arrays(needed: LocalArrays, comm: _core.Comm, alone: bool) -> list[Array]:
    """Make local arrays in memory that the node shares. Collective."""
    layout, ranks, dtype = needed.layout, needed.ranks, needed.dtype
    sizes = [math.prod(layout.padded_shape(rank)) * dtype.itemsize for rank in ranks]
    fail = partial(_core.fail_redistribute, comm=comm)
    memories = [call(fail, _core.shared_bytes, size, comm) for size in (sizes if alone else sizes or [0])]
    return [
        in_order(memory[:size].view(dtype), layout.padded_shape(rank), layout.dimension_order)
        for memory, size, rank in zip(memories, sizes, ranks, strict=False)
    ]


def as_given(arrays: list[Array], alone: bool) -> Any:
    if alone:
        return arrays[0] if len(arrays) == 1 else arrays
    return arrays[0] if arrays else None


def checked_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype.hasobject:
        raise ArgumentError(f"dtype {dtype} holds Python objects, which cannot be moved")
    if dtype.subdtype is not None:
        raise ArgumentError(f"dtype {dtype} is an array itself; add its dimensions to the shape")
    if dtype.itemsize == 0:
        raise ArgumentError(f"dtype {dtype} has elements of no bytes, which cannot be moved")
    return dtype


def format_dtype(dtype: np.dtype[Any]) -> str:
    return repr(np.lib.format.dtype_to_descr(dtype)) if dtype.fields else dtype.str


def parse_memory(memory: int | str | None) -> int:
    if memory is None:
        return 0
    given = parse_bytes(memory, "memory")
    if isinstance(given, (bool, np.bool_)) or not hasattr(given, "__index__"):
        raise ArgumentError(f"memory={shown(given)} is not a number of bytes; leave it out for 32 MiB")
    number = operator.index(given)
    if not 1 <= number <= _MAX_BYTES:
        raise ArgumentError(f"memory={number} bytes are too {'few' if number < 1 else 'many'}; leave it out for 32 MiB")
    return number


def check_flag(value: object, what: str) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise ArgumentError(f"{what}={shown(value)} is not a truth value; use True or False")
    return bool(value)


def check_memory(layout: Layout, dtype: np.dtype[Any]) -> None:
    """Raise ArgumentError where local arrays could have more bytes than can be addressed."""
    largest = layout.elements + sum(map(sum, layout.halo))
    if largest * dtype.itemsize > _MAX_BYTES:
        raise ArgumentError(f"{layout} of {dtype} has more bytes than memory can have; use a smaller shape")
