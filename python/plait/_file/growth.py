"""The methods of File that extend its array or change its shape."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._arguments.array_types import to_extents
from .._arguments.arrays import Arrays, LocalArrays, check_arrays, list_local_ranks, to_parts
from .._arguments.buffers import to_whole_number
from .._arguments.layouts import LayoutLike, has_shape, to_layout
from .._base.errors import ArgumentError
from .._calls.guard import call, collective_errors
from .._core import Comm, Layout
from .._core import File as CoreFile


class GrowthMethods(ABC):
    """The methods of a File that change the shape of its array."""

    _core: CoreFile
    _comm: Comm
    _is_alone: bool

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""

    def append(self, array: Arrays, layout: LayoutLike | None = None, axis: int = 0) -> None:
        """Extend the array along a dimension by a block, and write the block. Mode "a"; for new Zarr arrays also "w".

        Other programs find the array as it was until this file is closed, and then with everything that was appended.
        If the file is not closed, because its program fails or is killed, the array keeps its former shape.

        array     the local array of this rank, as for :meth:`write`; without a communicator and a layout, the block
        layout    the distribution of the block over the ranks. Its shape is that of the block: equal to the array's
                  except along ``axis``, where it may be 0
        axis      the dimension to extend, negative to count from the end

        Chunks that the end of the array crosses are read and written as a whole. Raises plait.ArgumentError if the
        block does not fit the array, and plait.StoreError if it cannot be written; the array then has its former shape.
        """
        with collective_errors(self._core.fail):
            along = to_whole_number(axis, "axis")
            block = self._block_layout(array, layout)
            ranks = list_local_ranks(block, self._comm, self._is_alone)
            arrays = check_arrays(array, LocalArrays(block, ranks, self.dtype), "array")
        try:
            call(self._core.fail, self._core.append, block, to_parts(arrays), along)
        finally:
            self._update_type()

    def resize(self, shape: Sequence[int] | int) -> None:
        """Change the shape of the array. Mode "a"; for new Zarr arrays also "w".

        New elements have the fill value until they are written. Other programs find them when this file is closed.
        Where the new shape is smaller, the array in the file changes at once: its elements outside are discarded.

        shape     as many sizes as the array has dimensions

        The names of all chunks are listed, and chunks that cross the end of the array are read if it becomes larger.
        """
        with collective_errors(self._core.fail):
            sizes = to_extents(shape)
        try:
            call(self._core.fail, self._core.resize, sizes)
        finally:
            self._update_type()

    def _block_layout(self, array: Arrays, layout: LayoutLike | None) -> Layout:
        """Return the layout of a block to append."""
        if layout is not None and has_shape(layout):
            return to_layout(layout)
        if self._comm.size > 1 or (layout is not None and isinstance(array, (list, tuple))):
            raise ArgumentError(
                f"layout={layout!r} does not state the shape of the block that is appended, which no rank can see from "
                'its part; pass a layout with a shape, such as plait.Layout((24, 721), "(*, block)", grid=(4,))'
            )
        shape = np.shape(array)
        return Layout(shape, ["*"] * len(shape), order=self._core.order) if layout is None else to_layout(layout, shape)

    @abstractmethod
    def _update_type(self) -> None:
        """Read the shape and dtype of the array from the core."""
