"""Streams: the file modes 0 to 4."""

from __future__ import annotations

import math
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arguments.buffers import to_whole_number
from .._arguments.recycled import new_array
from .._arguments.values import Array, to_array, to_plain_array
from .._arguments.words import array_kind
from .._base.errors import ArgumentError
from .._calls.guard import call, collective_errors
from .._calls.request import Request

if TYPE_CHECKING:
    from .file import File


class Stream:
    """The array of an open file as a sequence of elements, with a position. Made by :meth:`File.stream`.

    mode 0  each rank has its own position; calls are independent
    mode 1  one position for all ranks: each request gets the next range of elements, in the order of arrival; calls are
            independent
    mode 2  collective: the ranges of the ranks follow each other in rank order; lengths may differ
    mode 3  as mode 2, and all ranks pass the same length
    mode 4  collective: all ranks get the same range, which is read from the file once

    Positions and lengths are counted in elements of the array, in the order of the file. The array's size is that of
    the file: nothing is appended. In modes 0 and 1 no call waits for another rank. In modes 2, 3 and 4 :meth:`read`,
    :meth:`write`, :meth:`iread`, :meth:`iwrite` and :meth:`seek` are collective, and the request of a rank is complete
    when those of all ranks are. One thread at a time may use a Stream.
    """

    def __init__(self, file: File, core: _core.Stream, dtype: np.dtype[Any]) -> None:
        """Objects are made by :meth:`File.stream`."""
        self._file = file
        self._core = core
        self._dtype = dtype
        self._elements = math.prod(file.shape)

    @property
    def mode(self) -> int:
        """The mode of the stream: 0 to 4."""
        return self._core.mode

    @property
    def closed(self) -> bool:
        """True if the stream, or its file, is closed."""
        return not self._core.is_open

    def read(self, count: int, out: Array | None = None) -> Array:
        """Read up to ``count`` elements and return them as an array of one dimension.

        out  the array to fill from its beginning, instead of a new one: of the file's dtype, contiguous in C order, and
             of at least ``count`` elements

        The result has fewer than ``count`` elements only at the end of the array, and none if the position is at its
        end; in modes 2 and 3 ranks may get different numbers there. Raises plait.ArgumentError for a file in mode w and
        for invalid arguments (modes 3 and 4: unequal counts), and plait.StoreError if the file cannot be read. In modes
        2 to 4 all ranks raise the same error, and the position does not move.
        """
        number, target = self._check_read(count, out)
        return target[: call(self._core.fail, self._core.read, _find_address(target), number)]

    def write(self, array: npt.ArrayLike) -> None:
        """Write all elements of an array, in C order.

        Mode 4 writes the elements of rank 0; the other ranks pass as many. If the elements reach past the end of the
        file's array, nothing is written, the position does not move, and plait.ArgumentError is raised.
        """
        source = self._check_write(array)
        call(self._core.fail, self._core.write, _find_address(source), source.size)

    def iread(self, count: int, out: Array | None = None) -> Request[Array]:
        """Start a :meth:`read`, and return a Request whose ``wait()`` returns the result.

        Requests that were started on a stream are carried out in order.
        """
        number, target = self._check_read(count, out)
        start = partial(call, self._core.fail, self._core.start_read, _find_address(target), number)
        return _StreamRequest(start, self, [target], target)

    def iwrite(self, array: npt.ArrayLike) -> Request[None]:
        """Start a :meth:`write`. Do not change the array before ``wait()`` has returned."""
        source = self._check_write(array)
        start = partial(call, self._core.fail, self._core.start_write, _find_address(source), source.size)
        return Request(start, self, [source], None)

    def tell(self) -> int:
        """Return the position, in elements: where the next request begins. Mode 1: the common one at this moment."""
        return self._core.tell()

    def seek(self, element: int) -> None:
        """Move the position to an element; the number of elements is the end.

        Mode 0 moves this rank's own position, mode 1 that of all ranks at once; otherwise the call is collective, with
        equal arguments.
        """
        with collective_errors(self._core.fail):
            number = to_whole_number(element, "element")
        call(self._core.fail, self._core.seek, number)

    def close(self) -> None:
        """Wait for the requests that this rank has started, and close the stream on this rank; the file stays open.

        Does not wait for other ranks.
        """
        self._core.close()

    def __enter__(self) -> Stream:
        """Return the stream itself; leaving the block closes it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the stream."""
        self.close()

    def __repr__(self) -> str:
        """Return a description with the mode and the file."""
        return f"<{'closed ' if self.closed else ''}plait.Stream mode={self.mode} of {self._file.url!r}>"

    def _check_read(self, count: int, out: Array | None) -> tuple[int, Array]:
        """Return the number of elements, and memory for those that the file can contain."""
        with collective_errors(self._core.fail):
            number = to_whole_number(count, "count")
            if out is None:
                return number, new_array([max(min(number, self._elements), 0)], self._dtype)
            if not isinstance(out, np.ndarray):
                raise ArgumentError(f"out is {array_kind(out)}; pass a NumPy array to be filled")
            to_plain_array(out, "out")
            self._check_dtype(out, "out")
            if not out.flags.writeable or not out.flags.c_contiguous:
                raise ArgumentError("out is read-only or not contiguous in C order; pass an array that can be filled")
            if out.size < number:
                raise ArgumentError(f"out has {out.size} elements, but count is {number}; pass a larger array")
            return number, out.reshape(-1)

    def _check_write(self, array: npt.ArrayLike) -> Array:
        with collective_errors(self._core.fail):
            source: Array = np.ascontiguousarray(to_array(array, "array", self._dtype))
            self._check_dtype(source, "array")
            return source.reshape(-1)

    def _check_dtype(self, array: Array, what: str) -> None:
        if array.dtype != self._dtype:
            raise ArgumentError(
                f"{what} has dtype {array.dtype}, but the file holds {self._dtype}; convert it with astype"
            )


class _StreamRequest(Request[Array]):
    def _to_result(self, elements: Any) -> Array:
        return self._result[:elements]


def open_stream(file: File, core: _core.File, mode: int, dtype: np.dtype[Any]) -> Stream:
    """Open a stream on a file. Collective, even if one rank has an invalid mode."""
    with collective_errors(core.fail):
        number = to_whole_number(mode, "mode")
        if not 0 <= number <= 4:
            raise ArgumentError(f"streams have the modes 0 to 4, but mode={number} was given; use one of these")
    return Stream(file, call(core.fail, _core.Stream, core, number), dtype)


def _find_address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])
