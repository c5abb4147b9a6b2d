"""Checks the buffers, whole numbers and file names that callers pass."""

from __future__ import annotations

import operator
import os
from typing import Any

import numpy as np
import numpy.typing as npt

from .._base.errors import ArgumentError
from .values import to_plain_array
from .words import kind, shown


def to_whole_number(value: Any, name: str) -> int:
    """Return a whole number that its C++ type holds; ``name`` is for errors."""
    if type(value) is int and 0 <= value < 2**31:
        return value
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{name}={shown(value)} is not a whole number; give one") from None
    bound = 2**31 if name in ("rank", "component") else 2**63
    if not -bound <= number < bound:
        raise ArgumentError(f"{name}={number} is out of range; give a number below {bound}")
    return number


def to_path_text(path: Any, what: str = "the name of the file") -> str:
    """Return a name as text; bytes that are not UTF-8 are escaped in it."""
    if type(path) is str and path:
        return path
    try:
        text = os.fsdecode(path)
        if not text:
            raise ArgumentError(f"{what} is empty; give one")
        return text
    except TypeError:
        note = ", and not what is in memory" if hasattr(path, "read") or isinstance(path, np.ndarray) else ""
        raise ArgumentError(f"{what} is {kind(path)}; pass a str or a path{note}") from None


def trace_name(path: Any) -> str:
    """Return the name of a trace as text."""
    name = to_path_text(path, "the name of the trace")
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        raise ArgumentError(
            f"the name of the trace, {shown(name)}, has characters that no file can be named by"
        ) from None
    if "\0" in name:
        raise ArgumentError(f"the name of the trace, {shown(name)}, contains a NUL character; leave that out")
    return name


def _view_bytes(data: Any, name: str) -> npt.NDArray[Any]:
    """View a buffer as an array, without copying it."""
    if isinstance(data, np.ndarray):
        array = to_plain_array(data, name)
    else:
        try:
            view = memoryview(data)
        except (TypeError, ValueError):
            raise ArgumentError(f"{name} is {kind(data)}; pass bytes or an array") from None
        array = np.asarray(view)
    if array.dtype.hasobject:
        raise ArgumentError(f"{name} holds Python objects; pass numbers or bytes")
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise ArgumentError(f"{name} is not contiguous; pass a copy of it")
    return array


def view_out(out: Any) -> tuple[npt.NDArray[Any], Any]:
    """Return the array to fill, and the value to return to the caller.

    out  a buffer, or a number of bytes for a new array
    """
    if hasattr(out, "__index__") and not isinstance(out, (bool, np.bool_)) and not isinstance(out, np.ndarray):
        count = to_whole_number(out, "out")
        if count < 0:
            raise ArgumentError(f"{count} bytes were asked for; pass 0 or more")
        array = np.empty(count, np.uint8)
        return array, array
    array = _view_bytes(out, "out")
    if not array.flags.writeable:
        raise ArgumentError("out is read-only; pass an array that can be written")
    return array, out


def view_data(data: Any) -> npt.NDArray[Any]:
    """View the data to write as an array."""
    return _view_bytes(data, "data")


def address(array: npt.NDArray[Any]) -> int:
    """Return the address of the bytes of an array."""
    return int(array.__array_interface__["data"][0])
