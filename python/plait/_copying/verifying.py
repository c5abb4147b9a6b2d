"""Compares the target of a copy with its source."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from .._arguments.values import Array
from .._base.errors import store_error
from .steps import StepArray
from .windows import Window

_PIECE = 1 << 15  # elements compared at once, so that the comparison needs little memory in addition to the arrays


def compare(
    array: StepArray, both: tuple[Array, Array], to_global: Callable[[Sequence[int]], tuple[int, ...]], window: Window
) -> None:
    """Compare a part of a window of the source with that of the target; NaN equals NaN.

    to_global  gives the index in the window of an index in the part
    errors     StoreError: an element differs
    """
    found = _first_difference(*both)
    if found is None:
        return
    at = to_global([int(one) for one in found])
    index = tuple(int(one) + part.start for one, part in zip(at, window.region, strict=True))
    raise store_error(
        f"the array {array.name} differs at index {index} after the copy: the source has "
        f"{_value(both[0][found])}, and the target {_value(both[1][found])}; so the target was given up: look whether "
        "something changes the source, or whether a disk or the memory is at fault, and copy again",
        errno.EIO,
    )


def _first_difference(one: Array, other: Array) -> tuple[int, ...] | None:
    """Return the index of the first element, in the order of memory, that differs."""
    # The order of memory is dense and the same in both.
    order: Literal["C", "F"] = "F" if one.flags.f_contiguous and not one.flags.c_contiguous else "C"
    first, second = one.ravel(order=order), other.ravel(order=order)
    for begin in range(0, first.size, _PIECE):
        a, b = first[begin : begin + _PIECE], second[begin : begin + _PIECE]
        differs = _differ(a, b)
        if differs.any():
            at = begin + int(np.argmax(differs))
            return tuple(int(part) for part in np.unravel_index(at, one.shape, order=order))
    return None


def _differ(one: Array, other: Array) -> Array:
    if one.dtype.kind not in "biufcmMSU":
        width = one.dtype.itemsize
        parts = [part.view(np.uint8).reshape(part.size, width) for part in (one, other)]
        return np.asarray((parts[0] != parts[1]).any(axis=1))
    differs = one != other
    if one.dtype.kind in "fcmM":
        differs &= ~((one != one) & (other != other))  # NaN equals NaN
    return np.asarray(differs)


def _value(element: object) -> str:
    return str(element.item()) if isinstance(element, np.generic) and element.dtype.kind != "V" else repr(element)
