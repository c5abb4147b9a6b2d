"""Reads and writes of texts of any length.

The elements of a file are references of 16 bytes, which are read and written in any layout as other elements are. The
core converts those of this process to texts and back.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from .._arguments.arrays import to_parts
from .._arguments.region import Slices
from .._arguments.texts import REFERENCE, TEXT_DTYPE
from .._arguments.values import Array
from .._base.errors import ArgumentError
from .._calls.guard import call, checks
from .._core import File, Layout, Texts


def read_texts(core: File, layout: Layout, arrays: list[Array], slices: Slices, *, fill_halo: bool) -> None:
    """Read texts into the local arrays of this process. Collective, with the errors of a read."""
    references: list[Array] = [np.zeros(one.shape, REFERENCE) for one in arrays]
    call(core.fail, core.read, layout, to_parts(references), slices, fill_halo)
    dense = (
        references[0] if len(references) == 1 else np.concatenate([np.zeros(0, REFERENCE), *map(np.ravel, references)])
    )
    texts = call(core.fail, Texts(core).read, dense.__array_interface__["data"][0], dense.nbytes)
    begin = 0
    for one in arrays:
        one[...] = np.array(texts[begin : begin + one.size], TEXT_DTYPE).reshape(one.shape)
        begin += one.size


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
    if dtype == TEXT_DTYPE:
        _fail(core, what)


def _fail(core: File, what: str) -> NoReturn:
    with checks(core.fail):
        raise ArgumentError(f"{core.path} holds texts of any length, which {what} do not move; use read() and write()")
    raise AssertionError
