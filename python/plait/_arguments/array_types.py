"""Converts shapes and element types between the forms of callers, of files and of the compiled core.

A *descr* is the text by which .npy headers spell a dtype: ``<f8``, or a list of fields.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .._base.errors import ArgumentError
from .._core import ArrayType
from .dtypes import to_dtype
from .texts import REFERENCE, TEXT, TEXT_DTYPE, is_text
from .words import shown


def array_type(shape: Sequence[int] | int, dtype: npt.DTypeLike, order: str = "C") -> ArrayType:
    """Return the shape and dtype of an array in the form that the compiled core takes.

    errors  ArgumentError
    """
    sizes = to_extents(shape)
    try:
        return ArrayType(sizes, *to_descr(dtype), order)
    except TypeError:  # raised by the conversion to the core's type
        raise ArgumentError(f"shape={shown(sizes)} has a number that is out of range") from None


def element_dtype(array: ArrayType) -> np.dtype[Any]:
    """Return the dtype of the elements, or raw bytes if .npy headers have no spelling for it.

    errors  ArgumentError: NumPy does not support the type, at least on this kind of machine
    """
    descr = array.dtype
    if descr == TEXT:
        return TEXT_DTYPE
    if not descr:
        return np.dtype((np.void, array.element_bytes))
    # Callers may rename the fields of a structured dtype, which changes the dtype itself.
    return _make_dtype(descr) if descr.startswith("[") else _plain_dtype(descr)


@lru_cache(maxsize=64)
def _plain_dtype(descr: str) -> np.dtype[Any]:
    """Return a dtype without fields; it is cached, because programs open files of few types."""
    return _make_dtype(descr)


def _make_dtype(descr: str) -> np.dtype[Any]:
    """Return the dtype that .npy headers spell like this.  errors  ArgumentError"""
    try:
        return to_record_dtype(descr) if descr.startswith("[") else np.dtype(descr)
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"NumPy has no type {descr} on this kind of machine ({error}); convert the array on the machine that "
            "wrote it"
        ) from error


def to_record_dtype(descr: str) -> np.dtype[Any]:
    """Return the structured dtype of a list of fields as .npy headers spell it.  errors  TypeError, ValueError"""
    return np.lib.format.descr_to_dtype(ast.literal_eval(descr))


def to_extents(shape: Sequence[int] | int) -> list[int]:
    """Check a shape."""
    sizes: Iterable[Any] = shape if isinstance(shape, Iterable) and not isinstance(shape, (str, bytes)) else [shape]
    try:
        return [operator.index(size) for size in sizes]
    except TypeError:
        raise ArgumentError(f"shape={shown(shape)} is not a shape; give whole numbers, such as (8, 12)") from None


def to_descr(dtype: npt.DTypeLike) -> tuple[str, int]:
    """Return a dtype as .npy headers spell it, and its bytes."""
    numpy_type = to_dtype(dtype)
    if is_text(numpy_type):
        return TEXT, REFERENCE.itemsize
    if numpy_type.hasobject:
        raise ArgumentError(f"dtype {numpy_type} holds Python objects, which have no bytes of their own")
    try:
        descr = np.lib.format.dtype_to_descr(numpy_type)
    except ValueError as error:
        raise ArgumentError(
            f"dtype {numpy_type} cannot be spelled in a file ({error}); give fields in the order of their offsets that "
            "do not overlap"
        ) from None
    return (descr if isinstance(descr, str) else repr(descr)), numpy_type.itemsize
