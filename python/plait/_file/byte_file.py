"""The common base of handles that read and write bytes at offsets: those of distant files and of shared files."""

from __future__ import annotations

import array as arrays
from collections.abc import Callable
from functools import partial
from mmap import mmap
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar

import numpy.typing as npt

from .._arguments.buffers import address, to_whole_number, view_data, view_out
from .._calls.abandon import abandon
from .._calls.guard import call, fail_here
from .._calls.request import Request

__all__ = ["ByteFile", "Out"]


class ByteCore(Protocol):
    """The compiled handle. Accesses take an offset, an address and a number of bytes, and perhaps the owning rank."""

    @property
    def is_open(self) -> bool:
        """True if the handle is open."""

    @property
    def read(self) -> Callable[..., None]:
        """Fill memory."""

    @property
    def write(self) -> Callable[..., None]:
        """Write memory."""

    @property
    def start_read(self) -> Callable[..., Any]:
        """Start to fill memory."""

    @property
    def start_write(self) -> Callable[..., Any]:
        """Start to write memory."""

    def close(self) -> None:
        """Close the handle."""

    def abandon(self) -> None:
        """Close the handle on a rank that cannot continue."""


Core = TypeVar("Core", bound=ByteCore)
#: An object whose memory can be written, to be filled.
Out = TypeVar("Out", bound="bytearray | memoryview | mmap | arrays.array[Any] | npt.NDArray[Any]")
Self = TypeVar("Self", bound="ByteFile[Any]")


class ByteFile(Generic[Core]):
    """A handle for reading and writing at byte offsets; ``owner`` is the owning rank, if the core needs it."""

    def __init__(self, core: Core) -> None:
        """Wrap a handle of the compiled side."""
        self._core = core

    @property
    def closed(self) -> bool:
        """True if the handle is closed."""
        return not self._core.is_open

    def close(self) -> None:
        """Wait for this rank's requests and close the handle."""
        self._core.close()

    def __enter__(self: Self) -> Self:
        """Return the file itself; leaving the block closes it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file; if the block ends with an exception, abandon it, so that close() fails on the other ranks."""
        if kind is not None:
            abandon(self._core.abandon, self, error)
            return
        try:
            self.close()
        except BaseException as failure:
            abandon(self._core.abandon, self, failure)
            raise

    def _read(self, offset: int, out: Any, *owner: int) -> Any:
        array, result = view_out(out)
        call(fail_here, self._core.read, to_whole_number(offset, "offset"), address(array), array.nbytes, *owner)
        return result

    def _write(self, offset: int, data: Any, *owner: int) -> None:
        array = view_data(data)
        call(fail_here, self._core.write, to_whole_number(offset, "offset"), address(array), array.nbytes, *owner)

    def _iread(self, offset: int, out: Any, *owner: int) -> Request[Any]:
        array, result = view_out(out)
        begin = to_whole_number(offset, "offset")
        start = partial(call, fail_here, self._core.start_read, begin, address(array), array.nbytes, *owner)
        return Request(start, self, [array], result)

    def _iwrite(self, offset: int, data: Any, *owner: int) -> Request[None]:
        array = view_data(data)
        begin = to_whole_number(offset, "offset")
        start = partial(call, fail_here, self._core.start_write, begin, address(array), array.nbytes, *owner)
        return Request(start, self, [array], None)
