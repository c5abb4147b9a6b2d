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
    array: StepArray,
    elements: tuple[Array, Array],
    to_global: Callable[[Sequence[int]], tuple[int, ...]],
    window: Window,
) -> None:
    """Compare a part of a window of the source with that of the target; NaN equals NaN.

    to_global  converts an index in the part to the index in the window
    errors     StoreError: an element differs
    """
    position = find_difference(*elements)
    if position is None:
        return
    in_window = to_global([int(index) for index in position])
    index = tuple(int(offset) + part.start for offset, part in zip(in_window, window.region, strict=True))
    expected, read = (element_text(part[position]) for part in elements)
    raise store_error(
        f"the array {array.name} differs at index {index} after the copy: the source has {expected}, and the target "
        f"{read}; so the target was given up: look whether "
        "something changes the source, or whether a disk or the memory is at fault, and copy again",
        errno.EIO,
    )
