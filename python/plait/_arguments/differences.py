"""The first difference between two arrays of equal shapes and types."""

from __future__ import annotations

from typing import Literal

import numpy as np

from .values import Array

_PIECE_ELEMENTS = (
    1 << 15
)  # elements compared at once, so that the comparison needs little memory in addition to the arrays


def find_difference(first: Array, second: Array) -> tuple[int, ...] | None:
    """Return the index of the first element, in the order of memory, that differs; NaN equals NaN."""
    # The order of memory is dense and the same in both.
    order: Literal["C", "F"] = "F" if first.flags.f_contiguous and not first.flags.c_contiguous else "C"
    elements, others = first.ravel(order=order), second.ravel(order=order)
    for begin in range(0, elements.size, _PIECE_ELEMENTS):
        a, b = elements[begin : begin + _PIECE_ELEMENTS], others[begin : begin + _PIECE_ELEMENTS]
        differs = _find_differing(a, b)
        if differs.any():
            position = begin + int(np.argmax(differs))
            return tuple(int(part) for part in np.unravel_index(position, first.shape, order=order))
    return None


def element_text(element: object) -> str:
    """Return an element as errors show it."""
    return str(element.item()) if isinstance(element, np.generic) and element.dtype.kind != "V" else repr(element)


def _find_differing(first: Array, second: Array) -> Array:
    if first.dtype.kind not in "biufcmMSUTO":
        width = first.dtype.itemsize
        parts = [part.view(np.uint8).reshape(part.size, width) for part in (first, second)]
        return np.asarray((parts[0] != parts[1]).any(axis=1))
    differs = first != second
    if first.dtype.kind in "fcmM":
        differs &= ~((first != first) & (second != second))  # NaN equals NaN
    return np.asarray(differs)
