"""Reads and writes of texts of any length.

Problem: texts have no fixed size, but layouts, regions and halos move elements of a fixed size.

Idea: the elements of a file are references of 16 bytes, which are read and written in any layout like other elements.
The core converts the references of this process to texts and back. Elements that a read does not fill, such as halos,
must stay unchanged: their references are set before the read to a value that no file has.

Example: a rank owns elements 1 and 2 of 4, and its local array has a halo of 1. The read fills the references 1 and 2
of (none, none, none, none). The core converts these two, and the halo of the local array keeps its texts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arguments.arrays import to_parts
from .._arguments.region import Slices
from .._arguments.texts import REFERENCE, is_text, store_texts, to_block
from .._arguments.values import Array
from .._base.errors import ArgumentError
from .._calls.guard import call, collective_errors
from .._core import File, Layout, Texts

_UNFILLED = (1 << 64) - 1
"""Both halves of a reference that no file has: no heap of HDF5 and no chunk of Zarr has this address."""


def read_texts(core: File, layout: Layout, arrays: list[Array], slices: Slices, *, fill_halo: bool) -> None:
    """Read texts into the local arrays of this process. Collective, with the errors of a read."""
    halves = [np.full((*array.shape, 2), _UNFILLED, "u8") for array in arrays]
    references: list[Array] = [array.view(REFERENCE)[..., 0] for array in halves]
    call(core.fail, core.read, layout, to_parts(references), slices, fill_halo)
    filled = [_find_filled(array) for array in halves]
    parts = [
        array.ravel() if filled_part is None else array[filled_part]
        for array, filled_part in zip(references, filled, strict=True)
    ]
    dense = parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, REFERENCE), *parts])
    block = call(core.fail, Texts(core).read, dense.__array_interface__["data"][0], dense.nbytes)
    begin = 0
    for array, filled_part in zip(arrays, filled, strict=True):
        if array.dtype.hasobject and filled_part is not None:  # with NumPy 1: new arrays of objects contain None
            array[np.equal(array, np.array(None, object)).astype(bool)] = ""
        begin += store_texts(block, begin, array, filled_part)


def _find_filled(halves: Array) -> Array | None:
    """Return True for each reference that a read has filled; None if it has filled all."""
    is_filled = (halves[..., 0] != _UNFILLED) | (halves[..., 1] != _UNFILLED)
    return None if is_filled.all() else is_filled


def write_texts(core: File, layout: Layout, arrays: list[Array], slices: Slices) -> None:
    """Write the texts of the local arrays of this process. Collective, with the errors of a write."""
    with collective_errors(core.fail):
        block = to_block(arrays)
    dense: Array = np.frombuffer(call(core.fail, Texts(core).add, block), REFERENCE)
    references, begin = [], 0
    for array in arrays:
        references.append(dense[begin : begin + array.size].reshape(array.shape))
        begin += array.size
    call(core.fail, core.write, layout, to_parts(references), slices)


def reject_texts(core: File, dtype: np.dtype[Any], what: str) -> None:
    """Raise an error on all ranks if an array has texts.  what: the operations that do not support texts"""
    with collective_errors(core.fail):
        if is_text(dtype):
            raise ArgumentError(
                f"{core.path} holds texts of any length, which {what} do not move; use read() and write()"
            )
