"""Ends of a copy that are read or written from the first byte to the last, as standard input and output are."""

from __future__ import annotations

import contextlib
import errno
import io
import math
import os
import select
import stat
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from .._arguments.array_types import to_extents
from .._arguments.dtypes import to_dtype
from .._base.errors import ArgumentError, Error, StoreError, store_error
from .._core import Layout
from .._file.steps import VARIABLE
from .boxes import Storage
from .steps import Region, SourceStep, StepArray

_MAGIC = b"\x93NUMPY"
_MAX_HEADER_BYTES = 1 << 20
_PIECE_BYTES = 1 << 20  # maximum number of bytes of one read or write: a signal is handled between two of them


class NoReaderError(StoreError, BrokenPipeError):
    """The reader of a stream has closed it."""


def is_stream(end: Any) -> bool:
    """Return True if an end of a copy is an open binary stream."""
    return hasattr(end, "write") or hasattr(end, "read")


def stream_name(stream: Any) -> str:
    """Return the name of a stream for messages."""
    name = getattr(stream, "name", None)
    if name in (0, "<stdin>"):
        return "the standard input"
    if name in (1, "<stdout>"):
        return "the standard output"
    return str(name) if isinstance(name, str) else "the stream"


class SerialSource:
    """A source of arrays that follow one after the other, each as a ``.npy`` file, or as raw elements."""

    in_one_piece = False
    is_serial = True

    def __init__(
        self, stream: BinaryIO, shape: Sequence[int] | int | None, dtype: npt.DTypeLike | None, order: str | None
    ) -> None:
        """Wrap a stream; the other arguments describe each array if the caller has given them."""
        self.name = stream_name(stream)
        self._stream, self._order = stream, order
        self._shape = None if shape is None else tuple(to_extents(shape))
        self._dtype = None if dtype is None else to_dtype(dtype)
        self._array_number = 0

    def __enter__(self) -> SerialSource:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the stream open, because it belongs to the caller."""

    def steps(self) -> Iterator[SourceStep]:
        """Yield the arrays, until the stream ends after one of them."""
        while (array := self._next()) is not None:
            yield SourceStep(self._array_number, (array,))
            self._array_number += 1
        if self._array_number == 0:
            raise store_error(f"{self.name} is empty; nothing was copied")

    def read(self, array: StepArray, layout: Layout, out: Any, region: Region) -> None:
        """Fill a window. Windows are read in the order of the stream."""
        memory = _view_bytes(out[0])
        missing = len(memory) - self._fill(memory)
        if missing:
            raise store_error(f"{self.name} ends within array {self._array_number}: {missing} bytes of it are missing")

    def _fill(self, memory: memoryview) -> int:
        """Read until the memory is full or the stream ends; return the number of bytes that were read."""
        done = 0
        while done < len(memory):
            with _naming_stream(self.name):
                count = self._read_some(memory[done : done + _PIECE_BYTES])
            if count == 0:
                break
            done += count
        return done

    def _read_some(self, memory: memoryview) -> int:
        if not hasattr(self._stream, "readinto"):
            data = self._stream.read(len(memory))
            memory[: len(data)] = data
            return len(data)
        while (count := self._stream.readinto(memory)) is None:  # a non-blocking stream without data
            select.select([self._stream], [], [])
        return int(count)

    def _read_exactly(self, count: int, what: str) -> bytes:
        memory = bytearray(count)
        filled = self._fill(memoryview(memory))
        if filled < count:
            raise store_error(f"{self.name} ends within {what} of array {self._array_number}")
        return bytes(memory)

    def _next(self) -> StepArray | None:
        """Read the header of the next array; return None at the end of the stream."""
        memory = bytearray(len(_MAGIC) + 2)  # two bytes are the version
        filled = self._fill(memoryview(memory))
        if filled == 0:
            return None
        if not memory.startswith(_MAGIC) or filled < len(memory):
            begin = bytes(memory[:filled])
            raise store_error(
                f"{self.name}: array {self._array_number} does not begin like a .npy file, but with {begin!r}; "
                "write .npy files there, or pass raw, shape and dtype if it has elements without headers"
            )
        major = memory[len(_MAGIC)]
        if major not in (1, 2):
            raise store_error(
                f"{self.name}: array {self._array_number} is of version {major} of .npy; a stream may have versions 1 "
                "and 2"
            )
        count = self._read_exactly(2 if major == 1 else 4, "the header")
        length = int.from_bytes(count, "little")
        if length > _MAX_HEADER_BYTES:
            raise store_error(
                f"{self.name}: array {self._array_number} has a header of {length} bytes, which is too long for a .npy "
                "file"
            )
        shape, is_fortran_order, dtype = self._parse_header(major, count + self._read_exactly(length, "the header"))
        self._check(shape, dtype)
        return StepArray.make(VARIABLE, shape, dtype, "F" if is_fortran_order else "C")

    def _parse_header(self, major: int, header: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
        read = np.lib.format.read_array_header_1_0 if major == 1 else np.lib.format.read_array_header_2_0
        try:
            shape, is_fortran_order, dtype = read(io.BytesIO(header), max_header_size=_MAX_HEADER_BYTES)
        except Exception as error:
            raise store_error(f"{self.name}: array {self._array_number} has a damaged .npy header: {error}") from None
        if dtype.hasobject:
            raise store_error(
                f"{self.name}: array {self._array_number} holds Python objects, which have no bytes of their own"
            )
        return shape, is_fortran_order, dtype

    def _check(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        expected = (shape if self._shape is None else self._shape, dtype if self._dtype is None else self._dtype)
        if expected != (shape, dtype):
            raise ArgumentError(
                f"{self.name}: array {self._array_number} has shape {shape} and type {dtype}, but {expected[0]} and "
                f"{expected[1]} were given; leave shape and dtype out, or correct them"
            )


class RawSource(SerialSource):
    """A stream of raw elements, which are divided into arrays of one shape and type."""

    _first_byte = b""  # bytes that were read to detect the end of the stream

    def _next(self) -> StepArray | None:
        if self._shape is None or self._dtype is None:
            raise ArgumentError(f"{self.name} has elements without headers; give the shape and dtype of each array")
        if not math.prod(self._shape) * self._dtype.itemsize:
            raise ArgumentError(
                f"an array of shape {self._shape} has no elements, so the end of one cannot be found in a stream; "
                "give a shape with elements"
            )
        first = bytearray(1)
        if super()._fill(memoryview(first)) == 0:
            return None
        self._first_byte = bytes(first)
        return StepArray.make(VARIABLE, self._shape, self._dtype, self._order or "C")

    def _fill(self, memory: memoryview) -> int:
        if not self._first_byte:
            return super()._fill(memory)
        memory[:1], self._first_byte = self._first_byte, b""
        return 1 + super()._fill(memory[1:])


class SerialTarget:
    """A stream that gets each array as a ``.npy`` file, one after the other; or, raw, their elements alone."""

    in_one_piece = False
    is_serial = True
    accepts_several = False

    def __init__(self, stream: BinaryIO, raw: bool) -> None:
        """Wrap a stream. The stream's own buffer is bypassed, because it would retain data after a failed write."""
        self.name = stream_name(stream)
        self._step_number = 0
        with self._detecting_lost_reader():
            stream.flush()
        self._stream, self._raw = getattr(stream, "raw", stream), raw
        self._array_begin: int | None = None  # position of the array that is being written, in an ordinary file

    def __enter__(self) -> SerialTarget:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Truncate an incomplete array from the end of an ordinary file."""
        if kind is not None and self._array_begin is not None:
            with contextlib.suppress(OSError):
                os.ftruncate(self._stream.fileno(), self._array_begin)
                os.lseek(self._stream.fileno(), self._array_begin, os.SEEK_SET)

    def check(self, step: SourceStep, arrays: tuple[StepArray, ...]) -> None:
        """Accept any arrays: a stream has no name."""

    def check_array(self, step: SourceStep, array: StepArray) -> None:
        """Accept every array: NumPy's format has all types."""

    def begin(self, step: SourceStep, arrays: tuple[StepArray, ...]) -> None:
        """Begin the next array."""
        self._step_number = step.number

    def begin_array(self, array: StepArray) -> Storage | None:
        """Write the header of the array."""
        self._array_begin = _end_of_file(self._stream)
        if not self._raw:
            header = io.BytesIO()
            descr = np.lib.format.dtype_to_descr(array.dtype)
            header_fields = {"descr": descr, "fortran_order": array.order == "F", "shape": array.shape}
            try:
                np.lib.format.write_array_header_1_0(header, header_fields)
            except ValueError:  # version 1.0 limits the header to 65,535 bytes; a type with many fields needs more
                np.lib.format.write_array_header_2_0(header, header_fields)
            self._write_all(header.getbuffer())
        return None

    def write(self, array: StepArray, layout: Layout, given: Any, region: Region) -> None:
        """Write the next window."""
        self._write_all(_view_bytes(given[0]))

    def end(self) -> None:
        """Flush the array to the stream."""
        with self._detecting_lost_reader():
            self._stream.flush()
        self._array_begin = None

    def finish(self) -> None:
        """Do nothing: each array was flushed at its end."""

    def _write_all(self, memory: memoryview) -> None:
        with self._detecting_lost_reader():
            while memory:
                written = self._stream.write(memory[:_PIECE_BYTES])
                if written is None:  # a non-blocking stream that is full
                    select.select([], [self._stream], [])
                memory = memory[written or 0 :]

    @contextlib.contextmanager
    def _detecting_lost_reader(self) -> Iterator[None]:
        """Convert EPIPE, the error of a pipe whose reader has closed it, to NoReaderError."""
        try:
            with _naming_stream(f"{self.name}, step {self._step_number}"):
                yield
        except StoreError as error:
            if error.errno != errno.EPIPE:
                raise
            no_reader = NoReaderError(f"{self.name}: it has no reader any more")
            no_reader.errno = errno.EPIPE
            raise no_reader from None


@contextlib.contextmanager
def _naming_stream(name: str) -> Iterator[None]:
    """Convert errors of the system to StoreError, whose text begins with the name of the stream."""
    try:
        yield
    except Error:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise store_error(f"{name}: {reason}", error.errno) from None
    except ValueError as error:  # raised by closed streams
        raise store_error(f"{name}: {error}", errno.EBADF) from None


def _view_bytes(array: np.ndarray[Any, Any]) -> memoryview:
    """View the elements of a dense array in their order in memory."""
    return array.ravel(order="K").view(np.uint8).data if array.nbytes else memoryview(b"")


def _end_of_file(stream: BinaryIO) -> int | None:
    """Return the position in an ordinary file if it is the end of the file, else None."""
    try:
        status = os.fstat(stream.fileno())
        position = stream.tell()
    except (OSError, ValueError):
        return None
    return position if stat.S_ISREG(status.st_mode) and position == status.st_size else None
