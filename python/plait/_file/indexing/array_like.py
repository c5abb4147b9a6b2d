"""Lets programs use the array of a file like an array of NumPy: with indices, as an argument, and by its properties."""

from __future__ import annotations

import math
import threading
from typing import Any, NoReturn

import numpy as np

from ..._arguments.layouts import single_rank_layout
from ..._arguments.region import Slices
from ..._arguments.texts import is_text
from ..._arguments.values import Array, to_value
from ..._arguments.words import shape_text
from ..._base.errors import ArgumentError, ArgumentTypeError
from ..._calls.guard import plait_errors
from ..._core import Comm, File, read_plain
from ..attributes import FileAttributes
from ..texts import read_texts, write_texts
from .index import Index, parse_index
from .moving import read_index, write_index
from .readable_array import ReadableArray

_PIECE_BYTES = 32 << 20
"""Maximum number of bytes of a piece that `chunks` proposes for an array that is stored in one piece."""
_CACHE_BYTES = 16 << 20
"""Bytes of decompressed chunks that are cached for further indexing."""


class ArrayLike(ReadableArray):
    """The common interface of a File with arrays of NumPy, h5py and zarr.

    It is indexed as NumPy's arrays are, for reading and assignment, if one process alone has opened the file. These
    calls are not collective. Several threads may make them at once; their reads take turns.
    """

    _core: File
    _comm: Comm
    _is_alone: bool
    _dtype: np.dtype[Any]
    _text_writes: threading.Lock
    """Locked during a write of texts, for which the core needs two calls: one adds the texts, one writes references."""
    _buffer_dtype: np.dtype[Any] | None = None
    """The dtype for which the core handles simple indices in one call (`read_plain`); None if it does not."""
    _has_cache = False
    """True if the array is selected, and the core has a cache of chunks for indexing."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the whole array."""
        return self._core.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its elements."""
        return self._dtype

    @property
    def order(self) -> str:
        """The order of the elements in the file: C or F."""
        return self._core.order

    @property
    def chunks(self) -> tuple[int, ...]:
        """The shape of pieces that are read efficiently one after the other: contiguous, of 32 MiB at most.

        If the array is stored in chunks, as in Zarr's formats, it is the shape of a chunk.

        ``dask.array.from_array`` takes its own chunks from it, as from an array of h5py or zarr.
        """
        if self._core.chunk:
            return self._core.chunk
        return choose_pieces(self.shape, self.dtype.itemsize, self.order)

    @property
    def attrs(self) -> FileAttributes:
        """The attributes of the array, as they were when it was opened; for a new array, those given to
        :meth:`plait.open`.

        In mode ``r+`` of HDF5, netCDF-4 and Zarr they change by assignment and ``del``, on all ranks together.
        """
        return FileAttributes(self._core)

    def __getitem__(self, index: Any) -> Array | Any:
        """Read the elements of an index, and return what NumPy's indexing of the whole array would return, as a new
        array.

        index  integers, slices with any steps, ``...``, ``None``, lists of integers and masks, as in NumPy. Slices read
               only the selected elements; each element of a list or mask is read once

        It needs memory for the result; twice as much for lists that do not ascend, and up to 8 MiB more for lists and
        masks. Decompressed chunks are cached for the next reads, at most 16 MiB or one chunk. Integers and slices of
        at most 1 MiB cost about 2 µs more than the system takes, other indices about 20 µs. Not collective: a
        communicator of several ranks is an error. Raises plait.ArgumentError (an IndexError too for an index outside
        the array) and plait.StoreError.
        """
        if self._has_cache and self._buffer_dtype is not None:
            elements = read_plain(self._core, index, self._buffer_dtype)
            if elements is not None:
                return elements
        return self._read_index(index)

    @plait_errors
    def _read_index(self, index: Any) -> Array | Any:
        """Read the elements of any index; `read_plain` handles only simple indices without errors."""
        parsed = self._parse_index(index)
        if not self._has_cache:
            self._core.cache_chunks(_CACHE_BYTES)
            self._has_cache = True
        return read_index(parsed, self._dtype, self._core.order, self._read_region)

    @plait_errors
    def __setitem__(self, index: Any, value: Any) -> None:
        """Write a value to the elements of an index, broadcast as in NumPy's assignment; in modes r+ and w.

        index  as for reading. Lists and masks make one write for each stretch of elements in equal steps
        value  an array whose dtype can be cast to the file's by NumPy's rule ``same_kind``, or numbers in its range

        Not collective. Elements that were written before an error stay written. Raises plait.ArgumentError and
        plait.StoreError.
        """
        parsed = self._parse_index(index)
        elements = to_value(value, self._dtype, "value")
        try:
            write_index(parsed, elements, self._core.order, self._write_region)
        except ValueError as error:
            if isinstance(error, ArgumentError):
                raise
            raise ArgumentError(
                f"value has the shape {shape_text(elements.shape)}, which cannot be broadcast to the "
                f"{shape_text(parsed.shape)} that the index names; give a value of that shape, or one that broadcasts"
            ) from None

    def __contains__(self, value: object) -> NoReturn:
        """Raise an error: Python would search for the value by reading the file element by element."""
        raise ArgumentTypeError("whether a file holds a value cannot be asked for; read it first: value in file[...]")

    def _parse_index(self, index: Any) -> Index:
        if self._comm.size > 1:
            raise ArgumentError(
                f"the file is open on {self._comm.size} ranks, and indexing is for one process that has it for itself; "
                "read with file.read(layout, region=...) and write with file.write(array, layout, region=...) on all "
                "ranks, or open the file without comm"
            )
        self._select_data()
        parsed = parse_index(index, self._core.shape, self._core.order)
        if parsed.points is not None and self._makes_steps():
            raise ArgumentError(
                "a list or a mask is read or written in several parts, each of which would be a step of the pipe; "
                "begin a step first, as in: for step in file"
            )
        return parsed

    def _update_dtype(self, dtype: np.dtype[Any]) -> None:
        """Store the type of the selected array. The next index selects the array of the file again."""
        self._dtype, self._has_cache = dtype, False
        self._buffer_dtype = find_buffer_dtype(dtype) if self._is_alone else None

    def _read_small(self) -> Array | None:
        """Read the whole array if it is small enough for a read without a plan; else return None."""
        small: Any = None if self._buffer_dtype is None else read_plain(self._core, ..., self._buffer_dtype)
        return small  # type: ignore[no-any-return]

    def _select_data(self) -> None:
        """Select the array for which the file was opened for the next access."""
        raise NotImplementedError

    def _makes_steps(self) -> bool:
        """Return True if each access would be a step of a pipe, because no step has begun."""
        raise NotImplementedError

    def _read_region(self, slices: Slices, out: Array) -> None:
        layout, region = single_rank_layout(out.shape, self._core.order), self._to_core_region(slices, out)
        if is_text(out.dtype):
            read_texts(self._core, layout, [out], region, fill_halo=False)
            return
        parts = [(out.__array_interface__["data"][0], out.strides)]
        self._core.read(layout, parts, region, False)

    def _write_region(self, slices: Slices, array: Array) -> None:
        layout, region = single_rank_layout(array.shape, self._core.order), self._to_core_region(slices, array)
        if is_text(array.dtype):
            with self._text_writes:
                write_texts(self._core, layout, [array], region)
            return
        parts = [(array.__array_interface__["data"][0], array.strides)]
        self._core.write(layout, parts, region)

    def _to_core_region(self, slices: Slices, array: Array) -> Slices:
        """Return the slices for the core: an empty list for the whole array, which is all that may be written to a
        pipe.
        """
        return [] if array.shape == self._core.shape else slices


def find_buffer_dtype(dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    """Return the dtype if the buffer protocol, with which the core finds the memory of an array, supports it."""
    return dtype if dtype.kind in "biufcSU" and dtype.itemsize > 0 else None


def choose_pieces(shape: tuple[int, ...], itemsize: int, order: str, max_bytes: int = _PIECE_BYTES) -> tuple[int, ...]:
    """Return the shape of contiguous pieces, by default of 32 MiB at most, for an array that is stored in one piece.

    max_bytes  the maximum number of bytes of a piece, if an element is not larger
    """
    limit = max(max_bytes // max(itemsize, 1), 1)
    shape_of_piece = list(shape)
    for d in range(len(shape)) if order == "C" else range(len(shape) - 1, -1, -1):
        if math.prod(shape_of_piece) <= limit:
            break
        shape_of_piece[d] = max(limit // (math.prod(shape_of_piece) // shape_of_piece[d]), 1)
    return tuple(max(count, 1) for count in shape_of_piece)
