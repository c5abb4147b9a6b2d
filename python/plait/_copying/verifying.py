"""Compares the target of a copy with its source."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence

from .._arguments.differences import element_text, find_difference
from .._arguments.values import Array
from .._base.errors import store_error
from .steps import StepArray
from .windows import Window


def compare(
    array: StepArray, both: tuple[Array, Array], to_global: Callable[[Sequence[int]], tuple[int, ...]], window: Window
) -> None:
    """Compare a part of a window of the source with that of the target; NaN equals NaN.

    to_global  gives the index in the window of an index in the part
    errors     StoreError: an element differs
    """
    found = find_difference(*both)
    if found is None:
        return
    at = to_global([int(one) for one in found])
    index = tuple(int(one) + part.start for one, part in zip(at, window.region, strict=True))
    expected, read = (element_text(one[found]) for one in both)
    raise store_error(
        f"the array {array.name} differs at index {index} after the copy: the source has {expected}, and the target "
        f"{read}; so the target was given up: look whether "
        "something changes the source, or whether a disk or the memory is at fault, and copy again",
        errno.EIO,
    )
