"""Local arrays, the parts of a distributed array in this process: checks those of callers, and makes new ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._base.errors import ArgumentError
from .._core import Comm, Layout
from .recycled import new_array
from .values import Array, to_array, to_plain_array, to_value
from .words import array_kind, shape_text

#: One local array, or those of all ranks of a layout in one process; nested lists of numbers are accepted as an array.
Arrays = Array | Sequence[Any]
#: Local arrays as the core takes them: as they are, or as address and strides in bytes.
Parts = list[Array | tuple[int, tuple[int, ...]]]


@dataclass(frozen=True)
class LocalArrays:
    """The local arrays that a process needs: those of some ranks of a layout, ascending, with their dtype."""

    layout: Layout
    ranks: Sequence[int]
    dtype: np.dtype[Any]


def list_local_ranks(layout: Layout, comm: Comm, is_alone: bool) -> list[int]:
    """Return the ranks of a layout whose arrays this process holds, ascending.

    is_alone  True if the caller has passed no communicator: this process then holds the arrays of all ranks
    """
    if is_alone:
        return [int(rank) for rank in layout.rank_numbers]
    return [comm.rank] if layout.has_rank(comm.rank) else []


def view_in_order(memory: Array, shape: tuple[int, ...], order: tuple[int, ...]) -> Array:
    """View dense memory as an array whose dimensions are stored in this order, slowest first."""
    return memory.reshape([shape[d] for d in order]).transpose(np.argsort(order))


def find_order_letter(layout: Layout) -> str:
    """Return the order of local arrays, C or F; empty for an order that NumPy has no letter for."""
    order = layout.dimension_order
    ascending = tuple(range(len(order)))
    return "C" if order == ascending else "F" if order == ascending[::-1] else ""


def new_arrays(needed: LocalArrays) -> list[Array]:
    """Make uninitialised local arrays, halos included."""
    shapes = [needed.layout.padded_shape(rank) for rank in needed.ranks]
    if letter := find_order_letter(needed.layout):
        return [new_array(shape, needed.dtype, letter) for shape in shapes]
    order = needed.layout.dimension_order
    return [view_in_order(new_array([math.prod(shape)], needed.dtype), shape, order) for shape in shapes]


def check_arrays(arrays: Arrays | None, needed: LocalArrays, what: str, writable: bool = False) -> list[Array]:
    """Return the arrays of the ranks as a list.  errors  ArgumentError: an array does not fit the layout or the type"""
    layout, ranks, dtype = needed.layout, needed.ranks, needed.dtype
    if not ranks:
        if arrays is not None and not (isinstance(arrays, (list, tuple)) and not arrays):
            raise ArgumentError(f"{what} is given on a rank that is not in {layout}; pass None there")
        return []
    if len(ranks) == 1 and not writable:
        arrays = _list_to_array(arrays, layout.padded_shape(ranks[0]), dtype, what)
    is_list = isinstance(arrays, (list, tuple))
    arguments = list(arrays) if isinstance(arrays, (list, tuple)) else [arrays]
    if is_list and len(arguments) != len(ranks):
        instead = "pass one NumPy array, such as numpy.asarray returns for the list"
        if len(ranks) > 1:
            instead = f"pass {len(ranks)} arrays, one for each rank"
        raise ArgumentError(
            f"{what} is a {type(arrays).__name__}, which stands for {len(arguments)} local arrays, but {layout} needs "
            f"{len(ranks)} here; {instead}"
        )
    if not is_list and len(ranks) > 1:
        raise ArgumentError(
            f"{what} is {'one array' if isinstance(arrays, np.ndarray) else array_kind(arrays)}, but this process "
            f"holds all {len(ranks)} ranks of {layout}; pass a list of local arrays"
        )
    checked = []
    for rank, argument in zip(ranks, arguments, strict=True):
        name = what if layout.size == 1 else f"{what} of rank {rank}"
        if writable and argument is not None and not isinstance(argument, np.ndarray):
            raise ArgumentError(
                f"{name} is {array_kind(argument)}; pass a NumPy array, because only an array can be filled in place"
            )
        # A conversion would fill a copy of the caller's array.
        array = to_plain_array(argument, name, dtype) if writable else to_array(argument, name, dtype)
        shape = layout.padded_shape(rank)
        if array.shape != shape:
            subject = "one" if layout.size == 1 else f"{layout} needs one"
            condition = "is needed" if layout.size == 1 else f"on rank {rank}"
            raise ArgumentError(
                f"{name} is {array_kind(array)}, but {subject} of shape {shape_text(shape)} {condition}"
            )
        if array.dtype != dtype:
            raise ArgumentError(f"{name} has dtype {array.dtype}, but {dtype} is needed; convert it with astype")
        if writable and not array.flags.writeable:
            raise ArgumentError(f"{name} is read-only; pass an array that can be written")
        checked.append(array)
    return checked


def _list_to_array(argument: Any, shape: tuple[int, ...], dtype: np.dtype[Any], what: str) -> Any:
    """Return a list of numbers as one array; return other arguments, such as a list of arrays, unchanged."""
    if not isinstance(argument, (list, tuple)) or any(isinstance(item, np.ndarray) for item in argument):
        return argument
    array = to_value(argument, dtype, what)
    return argument if len(argument) == 1 and array.shape != shape and array.shape[1:] == shape else array


def to_parts(arrays: list[Array]) -> Parts:
    """Return the arrays; address and strides stand for an array whose type the buffer protocol does not support."""
    return [
        array if _has_buffer(array.dtype) else (array.__array_interface__["data"][0], array.strides) for array in arrays
    ]


def _has_buffer(dtype: np.dtype[Any]) -> bool:
    """Return True if NumPy exposes arrays of a type as buffers; it does not for long doubles in foreign byte order."""
    return dtype.kind in "biufc" and (dtype.isnative or dtype.char not in "gG")
