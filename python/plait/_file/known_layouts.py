"""Caches the layouts with which a file has been accessed, because programs repeat their accesses."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from .._arguments.arrays import plain_order
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
_recent: dict[tuple[int, Any], KnownLayout] = {}


class KnownLayouts:
    """Layouts of the whole array that have been checked for a file, or for another file with an equal array."""

    __slots__ = ("_alone", "_comm", "_core", "_known")

    def __init__(self, core: File, comm: Comm, alone: bool) -> None:
        """Begin without layouts of a file."""
        self._core, self._comm, self._alone = core, comm, alone
        self._known: dict[int, KnownLayout] = {}

    def find(self, layout: object, given: object, dtype: np.dtype[Any], writable: bool) -> tuple[Layout, Array] | None:
        """Return a known layout with the local array of an access: the caller's, or a new one for a read.

        It is None for layouts that are not known, and for arrays that must be checked.
        """
        known = self._known.get(id(layout))
        if known is None:
            known = _recent.get((id(layout), self._scope(dtype)))
            if known is None:
                return None
            self._add(known)
        if given is None:
            if not writable or not known.order:
                return None
            if known.is_small:
                return known.layout, np.empty(known.shape, dtype, "F" if known.order == "F" else "C")
            return known.layout, new_array(known.shape, dtype, known.order)
        if type(given) is not np.ndarray or given.shape != known.shape or given.dtype != dtype:
            return None
        return None if writable and not given.flags.writeable else (known.layout, given)

    def add(self, layout: Layout, local: Array, dtype: np.dtype[Any]) -> None:
        """Add a layout with a local array that fits."""
        known = KnownLayout(layout, local.shape, plain_order(layout), local.nbytes < _core.min_recycled)
        self._add(known)
        if local.nbytes <= _MAX_RECENT_BYTES:
            if len(_recent) >= _MAX_LAYOUTS:
                _recent.clear()
            _recent[id(layout), self._scope(dtype)] = known

    def _scope(self, dtype: np.dtype[Any]) -> Hashable:
        """Return what determines whether a layout fits the file."""
        return self._core.shape, dtype, self._comm.size, self._comm.rank, self._alone

    def _add(self, known: KnownLayout) -> None:
        if len(self._known) == _MAX_LAYOUTS:
            self._known.clear()
        self._known[id(known.layout)] = known

    def clear(self) -> None:
        """Discard all layouts of this file."""
        self._known.clear()
