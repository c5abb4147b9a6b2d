"""Reads and writes of texts of any length.

Problem: texts have no fixed size, but layouts, regions and halos move elements of a fixed size.

Idea: the elements of a file are references of 16 bytes, which are read and written in any layout as other elements are.
The core converts those of this process to texts and back. A read leaves the elements as they are that it does not fill,
such as halos: their references keep a value that no file has.

Example: a rank owns elements 1 and 2 of 4, and its local array has a halo of 1. The read fills the references 1 and 2
of (none, none, none, none). The core converts these two, and the halo of the local array keeps its texts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arguments.arrays import to_parts
from .._arguments.region import Slices
from .._arguments.texts import REFERENCE, TEXT_DTYPE, is_text
from .._arguments.values import Array
from .._base.errors import ArgumentError
from .._calls.guard import call, checks
from .._core import File, Layout, Texts

_NONE = np.frombuffer(b"\xff" * REFERENCE.itemsize, REFERENCE)[0]
"""A reference that no file has: the references of HDF5 have no such heap, those of Zarr no such chunk."""


def read_texts(core: File, layout: Layout, arrays: list[Array], slices: Slices, *, fill_halo: bool) -> None:
    """Read texts into the local arrays of this process. Collective, with the errors of a read."""
    references: list[Array] = [np.full(one.shape, _NONE, REFERENCE) for one in arrays]
    call(core.fail, core.read, layout, to_parts(references), slices, fill_halo)
    filled = [one != _NONE for one in references]
    dense = np.concatenate([np.zeros(0, REFERENCE), *(one[at] for one, at in zip(references, filled, strict=True))])
    texts = call(core.fail, Texts(core).read, dense.__array_interface__["data"][0], dense.nbytes)
    begin = 0
    for one, at in zip(arrays, filled, strict=True):
        count = int(np.count_nonzero(at))
        if one.dtype.hasobject:  # of NumPy 1, whose new arrays hold None
            one[np.equal(one, np.array(None, object)).astype(bool)] = ""
        one[at] = np.array(texts[begin : begin + count], TEXT_DTYPE)
        begin += count


def write_texts(core: File, layout: Layout, arrays: list[Array], slices: Slices) -> None:
    """Write the texts of the local arrays of this process. Collective, with the errors of a write."""
    with checks(core.fail):
        texts = [text for one in arrays for text in one.ravel().tolist()]
    dense: Array = np.frombuffer(call(core.fail, Texts(core).add, texts), REFERENCE)
    references, begin = [], 0
    for one in arrays:
        references.append(dense[begin : begin + one.size].reshape(one.shape))
        begin += one.size
    call(core.fail, core.write, layout, to_parts(references), slices)


def reject_texts(core: File, dtype: np.dtype[Any], what: str) -> None:
    """Raise an error on all ranks if an array has texts, for what these do not support."""
    with checks(core.fail):
        if is_text(dtype):
            raise ArgumentError(
                f"{core.path} holds texts of any length, which {what} do not move; use read() and write()"
            )
