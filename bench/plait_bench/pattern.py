"""The known content of the benchmark's arrays, computed from indices, so that each byte can be checked anywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]


def pattern(rows: Indices, columns: Indices, extent: int, dtype: np.dtype[Any], round_: int = 0) -> npt.NDArray[Any]:
    """Return the elements at all pairs of `rows` and `columns`, in Fortran order.

    extent  rows of the whole array
    round_  changes every element, so that data of an earlier round cannot be mistaken for that of this one

    All doubles of an array are different.  Bytes repeat, but neighbours in either direction differ.
    """
    if dtype.itemsize == 1:
        # Odd factors, so that neighbours differ modulo 256; the shifted terms change the pattern after 256 elements.
        row_terms = (rows * 131 + (rows >> 8) * 13).astype(np.uint8)
        column_terms = (columns * 71 + (columns >> 8) * 29 + round_ * 101).astype(np.uint8)
    else:
        row_terms = rows.astype(dtype)
        column_terms = (columns * extent + round_ * extent * extent).astype(dtype)
    return (column_terms[:, np.newaxis] + row_terms[np.newaxis, :]).T


def same_bytes(left: npt.NDArray[Any], right: npt.NDArray[Any]) -> bool:
    """Return True if two arrays of the same memory order agree in shape, type and every byte."""
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    return bool(np.array_equal(left.ravel(order="K").view(np.uint8), right.ravel(order="K").view(np.uint8)))
