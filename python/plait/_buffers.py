"""Buffers of callers, as addresses and bytes."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from ._errors import ArgumentError


def whole(value: Any, name: str) -> int:
    """Return a whole number that its C++ type holds; ``name`` is for errors."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{name}={value!r} is not a whole number") from None
    if not -(2**63) <= number < 2**63 or (name in ("rank", "component") and abs(number) >= 2**31):
        raise ArgumentError(f"{name}={number} is out of range")
    return int(number)


def _bytes_of(data: Any, name: str) -> npt.NDArray[Any]:
    """View a buffer as an array, without copying it."""
    if isinstance(data, np.ndarray):
        array = data
    else:
        try:
            view = memoryview(data)
        except TypeError as error:
            raise ArgumentError(f"{name} is a {type(data).__name__}: {error}") from None
        array = np.asarray(view)
    if array.dtype.hasobject:
        raise ArgumentError(f"{name} holds Python objects; pass numbers or bytes")
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise ArgumentError(f"{name} is not contiguous; pass a copy of it")
    return array


def to_fill(out: Any) -> tuple[npt.NDArray[Any], Any]:
    """Return the array to fill, and what the caller gets."""
    if hasattr(out, "__index__") and not isinstance(out, np.ndarray):
        count = whole(out, "out")
        if count < 0:
            raise ArgumentError(f"{count} bytes were asked for; pass 0 or more")
        array = np.empty(count, np.uint8)
        return array, array
    array = _bytes_of(out, "out")
    if not array.flags.writeable:
        raise ArgumentError("out is read-only; pass an array that can be written")
    return array, out


def to_write(data: Any) -> npt.NDArray[Any]:
    """View what is to be written as an array."""
    return _bytes_of(data, "data")


def address(array: npt.NDArray[Any]) -> int:
    """Return where the bytes of an array are."""
    return int(array.__array_interface__["data"][0])
