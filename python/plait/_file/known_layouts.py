"""Caches the layouts that have been checked for a file, because programs repeat their accesses."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from .._arguments.arrays import find_order_letter
from .._arguments.recycled import new_array
from .._arguments.values import Array
from .._core import Comm, File, Layout

_MAX_LAYOUTS = 16
_MAX_RECENT_BYTES = 1 << 20
"""Size of local arrays up to which all files share a layout: checking it would take longer than a small access."""


@dataclass(frozen=True)
class KnownLayout:
    """A checked layout, with the shape and the order of this rank's local array."""

    # The reference to the layout ensures that no other object gets its id, which is the key of the cache.
    layout: Layout
    shape: tuple[int, ...]
    order: str
    is_small: bool  # no memory is recycled for the local array


#: Layouts by their id and the file's properties that determine whether they fit.
_shared_layouts: dict[tuple[int, Any], KnownLayout] = {}


class KnownLayouts:
    """The layouts that have been checked for a file, or for another file whose array has the same shape and dtype."""

    __slots__ = ("_checked_layouts", "_comm", "_core", "_is_alone")

    def __init__(self, core: File, comm: Comm, is_alone: bool) -> None:
        """Begin with no layouts of the file `core`."""
        self._core, self._comm, self._is_alone = core, comm, is_alone
        self._checked_layouts: dict[int, KnownLayout] = {}

    def find(self, layout: object, given: object, dtype: np.dtype[Any], writable: bool) -> tuple[Layout, Array] | None:
        """Return a known layout with the local array of an access: the caller's, or a new one for a read.

        It is None for layouts that are not known, and for arrays that must be checked.
        """
        cached = self._checked_layouts.get(id(layout))
        if cached is None:
            cached = _shared_layouts.get((id(layout), self._layout_conditions(dtype)))
            if cached is None:
                return None
            self._add(cached)
        if given is None:
            if not writable or not cached.order:
                return None
            if cached.is_small:
                return cached.layout, np.empty(cached.shape, dtype, "F" if cached.order == "F" else "C")
            return cached.layout, new_array(cached.shape, dtype, cached.order)
        if type(given) is not np.ndarray or given.shape != cached.shape or given.dtype != dtype:
            return None
        return None if writable and not given.flags.writeable else (cached.layout, given)

    def add(self, layout: Layout, local: Array, dtype: np.dtype[Any]) -> None:
        """Add a layout with a local array that fits."""
        cached = KnownLayout(layout, local.shape, find_order_letter(layout), local.nbytes < _core.min_recycled)
        self._add(cached)
        if local.nbytes <= _MAX_RECENT_BYTES:
            if len(_shared_layouts) >= _MAX_LAYOUTS:
                _shared_layouts.clear()
            _shared_layouts[id(layout), self._layout_conditions(dtype)] = cached

    def _layout_conditions(self, dtype: np.dtype[Any]) -> Hashable:
        """Return what determines whether a layout fits the file."""
        return self._core.shape, dtype, self._comm.size, self._comm.rank, self._is_alone

    def _add(self, cached: KnownLayout) -> None:
        if len(self._checked_layouts) == _MAX_LAYOUTS:
            self._checked_layouts.clear()
        self._checked_layouts[id(cached.layout)] = cached

    def clear(self) -> None:
        """Discard all layouts of this file."""
        self._checked_layouts.clear()
