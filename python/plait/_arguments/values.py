"""Converts the values that callers assign to elements, and lists that they pass instead of arrays, to arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._base.errors import ArgumentError
from .texts import is_text, to_text_array
from .words import array_kind, shown

Array = npt.NDArray[Any]

_KIND_RANKS = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}  # a kind of dtype can hold the kinds of lower and equal rank


def to_plain_array(value: Any, what: str, dtype: np.dtype[Any] | None = None) -> Array:
    """Return a value as an array, itself if it is one, or raise ArgumentError if it cannot be converted."""
    if isinstance(value, np.ma.MaskedArray):
        raise ArgumentError(
            f"{what} is a masked array, whose mask would be lost; pass its data, or the result of its filled()"
        )
    if isinstance(value, np.ndarray):
        return value
    expected = f"a NumPy array{'' if dtype is None else f' of {dtype}'}"
    if value is None:
        raise ArgumentError(f"{what} is missing; pass {expected}")
    if isinstance(value, bytes):
        raise ArgumentError(f"{what} is bytes; pass {expected}, such as numpy.frombuffer returns")
    try:
        array = np.asarray(value)
    except MemoryError:
        raise
    except Exception as error:
        raise ArgumentError(
            f"{what} is {array_kind(value)}, which cannot be converted to an array ({error}); pass {expected}"
        ) from None
    if array.dtype.hasobject or array.dtype.kind == "U":
        raise ArgumentError(f"{what} is {array_kind(value)}; pass {expected}")
    return array


def to_array(value: Any, what: str, dtype: np.dtype[Any]) -> Array:
    """Return an array: a given one as it is, a list of numbers as one of this dtype."""
    if is_text(dtype):
        return to_text_array(value, what)
    return to_value(value, dtype, what) if isinstance(value, (list, tuple)) else to_plain_array(value, what, dtype)


def to_value(value: Any, dtype: np.dtype[Any], what: str) -> Array:
    """Return a value as an array of this dtype; NumPy's casting rule ``same_kind`` holds.

    Python's own numbers, alone or in lists, take any dtype of their kind or of one above that holds them.
    errors  ArgumentError: it would lose its fraction, its imaginary part or its high bits, or is of another kind
    """
    if is_text(dtype):
        return to_text_array(value, what)
    if isinstance(value, (int, float, complex, list, tuple, str, bytes)) and not isinstance(value, np.generic):
        return _from_python(value, dtype, what)
    array = to_plain_array(value, what, dtype)
    if array.dtype == dtype:
        return array
    if not np.can_cast(array.dtype, dtype, "same_kind"):
        raise ArgumentError(
            f"{what} has dtype {array.dtype}, which {dtype} cannot hold without changing its kind; convert it with "
            "astype first"
        )
    return array.astype(dtype)


def _from_python(value: Any, dtype: np.dtype[Any], what: str) -> Array:
    if dtype.kind not in _KIND_RANKS:
        try:
            return np.asarray(value, dtype)
        except MemoryError:
            raise
        except Exception as error:
            raise ArgumentError(
                f"{what} is {shown(value)}, which is no value of {dtype} ({error}); give one that is"
            ) from None
    value_or_array = value if isinstance(value, (list, tuple)) else np.array(value)
    array = to_plain_array(value_or_array, what, dtype)
    if array.size == 0:
        return array.astype(dtype)
    if _KIND_RANKS.get(array.dtype.kind, len(_KIND_RANKS)) > _KIND_RANKS[dtype.kind]:
        raise ArgumentError(
            f"{what} is {shown(value)}, which {dtype} cannot hold without changing its kind; round it or convert it "
            "first"
        )
    if dtype.kind in "iu" and array.dtype.kind in "iu":
        bounds = np.iinfo(dtype)
        for number in (int(array.min()), int(array.max())):
            if not bounds.min <= number <= bounds.max:
                raise ArgumentError(
                    f"{what} has the number {number}, but {dtype} holds {bounds.min} to {bounds.max}; give numbers "
                    "that fit, or use a file of a larger dtype"
                )
    return array.astype(dtype)
