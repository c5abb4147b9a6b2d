"""The interface that every array outside of memory shares with NumPy's arrays."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._arguments.array_base import ArrayBase
from ..._arguments.dtypes import to_dtype
from ..._arguments.values import Array
from ..._base.errors import ArgumentError, ArgumentTypeError
from ..._calls.guard import plait_errors


class ReadableArray(ArrayBase):
    """An array with a shape and a dtype, whose elements are read on request."""

    @property
    @abstractmethod
    def chunks(self) -> tuple[int, ...]:
        """The shape of pieces that are read efficiently one after the other."""

    @abstractmethod
    def __getitem__(self, index: Any) -> Array | Any:
        """Return what NumPy's indexing would return."""

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        """Return the size of the first dimension."""
        if not self.shape:
            raise ArgumentTypeError("the array has no dimensions, and no length; it is one element: take it by [()]")
        return self.shape[0]

    def __bool__(self) -> bool:
        """Return True, whatever the array holds, and however long it is."""
        return True

    @plait_errors
    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        """Read the whole array, for ``numpy.asarray``. Not collective: a communicator of several ranks is an error.

        dtype  the type to which the elements are converted
        copy   False is an error, because reading makes a copy
        """
        if copy is False:
            raise ArgumentError("the array is in a file, and reading it makes a copy; leave out copy=False")
        whole: Array = self[...]
        return whole if dtype is None else whole.astype(to_dtype(dtype), copy=False)

    @plait_errors
    def astype(self, dtype: npt.DTypeLike) -> CastArray:
        """Return a view whose elements are converted as they are read: ``file.astype("f4")[10:20]``.

        The conversion is that of NumPy's ``astype``, after a read in the file's dtype.
        """
        return CastArray(self, to_dtype(dtype))


class CastArray(ReadableArray):
    """An array in another dtype, for reading. Made by :meth:`File.astype`."""

    def __init__(self, array: ReadableArray, dtype: np.dtype[Any]) -> None:
        """Objects are made by :meth:`File.astype`."""
        self._array = array
        self._dtype = dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the whole array."""
        return self._array.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type to which the elements are converted."""
        return self._dtype

    @property
    def chunks(self) -> tuple[int, ...]:
        """The chunks of the file."""
        return self._array.chunks

    @plait_errors
    def __getitem__(self, index: Any) -> Array | Any:
        """Read as the File does, and convert."""
        return self._array[index].astype(self._dtype, copy=False)

    def __repr__(self) -> str:
        """Return a description with the array and the type."""
        return f"<{self._array!r} as {self._dtype}>"
