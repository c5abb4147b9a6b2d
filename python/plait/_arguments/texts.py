"""Arrays of texts of any length: their dtype, and conversion to and from the core's blocks of texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._base.errors import ArgumentError
from .._core import TextBlock
from .words import array_kind

TEXT = "text"
"""The name of the type of texts of any length."""

_STRING_DTYPE = getattr(getattr(np, "dtypes", None), "StringDType", None)
TEXT_DTYPE: np.dtype[Any] = np.dtype(object) if _STRING_DTYPE is None else _STRING_DTYPE()
"""The dtype of texts in memory: NumPy's own from version 2 on, and Python's objects before."""

REFERENCE = np.dtype("V16")
"""The element of a file that refers to a text."""


def is_text(dtype: np.dtype[Any]) -> bool:
    """Return True for the dtype of texts of any length."""
    return dtype.kind == TEXT_DTYPE.kind


def dtype_name(dtype: np.dtype[Any]) -> str:
    """Return the spelling of a dtype in listings: ``<f8``."""
    return TEXT if is_text(dtype) else dtype.str


def dtype_text(dtype: np.dtype[Any]) -> str:
    """Return the name of a dtype in messages: ``float64``."""
    return TEXT if is_text(dtype) else str(dtype)


def to_text_array(value: Any, what: str) -> npt.NDArray[Any]:
    """Return texts as an array of :data:`TEXT_DTYPE`.

    value  a text, lists of texts, or an array of texts: of NumPy's StringDType, of a dtype such as U20, or of objects
    errors  ArgumentError: an element is not a text
    """
    if isinstance(value, np.ma.MaskedArray):
        raise ArgumentError(f"{what} is a masked array, whose mask would be lost; pass the result of its filled()")
    try:
        array = value if isinstance(value, np.ndarray) else np.asarray(value, object)
    except ValueError as error:
        raise ArgumentError(f"{what} is no array of texts ({error}); pass lists of equal lengths") from None
    if array.dtype == TEXT_DTYPE and array.dtype.kind != "O":
        return array  # a conversion between two equal StringDTypes would copy it
    if array.dtype.kind == "U":
        return array.astype(TEXT_DTYPE)
    if array.dtype.kind not in ("O", "T"):
        raise ArgumentError(
            f"{what} is {array_kind(value)}; expected texts (str); decode bytes and convert numbers first"
        )
    items = array.ravel().tolist()
    try:
        block = TextBlock.from_list(items)
    except ValueError:
        wrong = [item for item in items if not isinstance(item, str)]
        if not wrong:
            raise
        found = f"an array with an element of type {type(wrong[0]).__name__}"
        raise ArgumentError(
            f"{what} is {found}; expected texts (str); decode bytes and convert numbers first"
        ) from None
    return _to_array(block, 0, len(items)).reshape(array.shape)


def to_block(arrays: list[npt.NDArray[Any]]) -> TextBlock:
    """Return the texts of arrays of :data:`TEXT_DTYPE`, one after another in C order."""
    if _STRING_DTYPE is None:
        return TextBlock.from_list([text for array in arrays for text in array.ravel().tolist()])
    block = TextBlock()
    for texts in arrays:
        dense = texts.ravel()
        block.load(_address(dense), dense.size, dense.dtype)
    return block


def store_texts(block: TextBlock, first: int, array: npt.NDArray[Any], at: npt.NDArray[np.bool_] | None) -> int:
    """Store texts of a block, from `first` on, in an array of :data:`TEXT_DTYPE`. Return the number of stored texts.

    at  the elements to fill, in C order; None for all
    """
    if at is None and array.flags.c_contiguous and array.dtype.kind == "T":
        block.store(first, _address(array), array.size, array.dtype)
        return array.size
    count = array.size if at is None else int(np.count_nonzero(at))
    texts = _to_array(block, first, count)
    if at is None:
        array[...] = texts.reshape(array.shape)
    else:
        array[at] = texts
    return count


def _to_array(block: TextBlock, first: int, count: int) -> npt.NDArray[Any]:
    if _STRING_DTYPE is None:
        return np.array(block.to_list(first, count), object)
    texts = np.zeros(count, TEXT_DTYPE)
    block.store(first, _address(texts), count, texts.dtype)
    return texts


def _address(array: npt.NDArray[Any]) -> int:
    return int(array.ctypes.data)
