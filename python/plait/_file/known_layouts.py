"""Layouts by which a file has been accessed, because programs repeat their accesses."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._arguments.arrays import plain_order
from .._arguments.recycled import new_array
from .._arguments.values import Array
from .._core import Layout

_MAX_LAYOUTS = 16


class KnownLayouts:
    """Layouts of the whole array, with the shape and the order of this rank's local array, which have been checked."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        """Begin without layouts."""
        # The layout itself keeps its id from being used again. The last item is True for small local arrays, for which
        # no memory is recycled.
        self._known: dict[int, tuple[Layout, tuple[int, ...], str, bool]] = {}

    def find(
        self, layout: object, given: object, dtype: np.dtype[Any], writable: bool
    ) -> tuple[Layout, Array] | None:
        """Return a known layout with the local array of an access: the caller's, or a new one for a read.

        It is None for layouts that are not known, and for arrays that must be checked.
        """
        known = self._known.get(id(layout))
        if known is None:
            return None
        found, shape, order, is_small = known
        if given is None:
            if not writable or not order:
                return None
            if is_small:
                return found, np.empty(shape, dtype, "F" if order == "F" else "C")
            return found, new_array(shape, dtype, order)
        if type(given) is not np.ndarray or given.shape != shape or given.dtype != dtype:
            return None
        return None if writable and not given.flags.writeable else (found, given)

    def add(self, layout: Layout, local: Array) -> None:
        """Add a layout with a local array that fits."""
        if len(self._known) == _MAX_LAYOUTS:
            self._known.clear()
        self._known[id(layout)] = layout, local.shape, plain_order(layout), local.nbytes < _core.min_recycled

    def clear(self) -> None:
        """Discard all layouts."""
        self._known.clear()
