"""Checks the arguments of collective reads and writes against the array that is read or written."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from .._base.errors import ArgumentError
from .._core import Comm, Layout
from .array_base import ArrayBase
from .arrays import Arrays, LocalArrays, check_arrays, list_local_ranks, new_arrays
from .layouts import LayoutLike, to_layout
from .region import Region, Slices, region_shape, to_slices
from .values import Array
from .words import shape_text


class CollectiveArray(ArrayBase):
    """An array that the ranks of a communicator access together, or a process alone that holds all ranks."""

    _comm: Comm
    _is_alone: bool

    @property
    @abstractmethod
    def order(self) -> str:
        """The order of its elements: C or F."""

    def _layout_for(self, layout: LayoutLike | None, slices: Slices) -> Layout:
        shape = region_shape(slices, self.shape)
        if layout is not None:
            return to_layout(layout, shape)
        if self._comm.size > 1:
            raise ArgumentError(
                f"{self._comm.size} ranks need a layout that says which part each of them has, "
                f'such as plait.Layout(file.shape, "(block, *)", grid=({self._comm.size},))'
            )
        return Layout(shape, ["*"] * len(shape), order=self.order)

    def _check_access(
        self, layout: LayoutLike | None, given: Arrays | None, region: Region | None, what: str, writable: bool
    ) -> tuple[Layout, Slices, list[Array]]:
        """Return the layout, the region and the local arrays of this process.  errors  ArgumentError"""
        slices = to_slices(region, self.shape)
        layout = self._layout_for(layout, slices)
        if not self._is_alone and layout.ranks_end > self._comm.size:
            raise ArgumentError(
                f"the layout {layout} has {layout.size} ranks, up to rank {layout.ranks_end - 1}, but the "
                f"communicator has the ranks 0 to {self._comm.size - 1}; use a grid of at most {self._comm.size} ranks"
            )
        if layout.shape != region_shape(slices, self.shape):
            raise ArgumentError(
                f"the layout is of an array {shape_text(layout.shape)}, but the "
                f"{'region' if slices else 'array in the file'} is {shape_text(region_shape(slices, self.shape))}; "
                f"use a layout of that shape"
            )
        needed = LocalArrays(layout, list_local_ranks(layout, self._comm, self._is_alone), self.dtype)
        if given is None and what == "out":
            return layout, slices, new_arrays(needed)
        return layout, slices, check_arrays(given, needed, what, writable)

    def _to_result(self, arrays: list[Array], out: Arrays | None) -> Any:
        """Return the result of a read in the form that the caller expects."""
        if out is not None:
            return out
        if not arrays and not self._is_alone:
            return None
        return arrays[0] if len(arrays) == 1 else arrays
