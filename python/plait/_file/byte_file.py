"""The common parts of handles of files at byte offsets: distant files and shared ones."""

from __future__ import annotations

import array as arrays
from collections.abc import Callable
from functools import partial
from mmap import mmap
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar

import numpy.typing as npt

from .._arguments.buffers import address, to_fill, to_write, whole
from .._calls.abandon import abandon
from .._calls.guard import call, fail_here
from .._calls.request import Request

__all__ = ["ByteFile", "Out"]


class ByteCore(Protocol):
    """The compiled side: takes an offset, an address and a number of bytes, and perhaps the rank that owns the file."""

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
    """A handle for reading and writing at byte offsets; ``where`` names the owner of the file to the compiled side."""

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
        """Close the file; a block that ends with an exception abandons it: the others' close says so."""
        if kind is not None:
            abandon(self._core.abandon, self, error)
            return
        try:
            self.close()
        except BaseException as failure:
            abandon(self._core.abandon, self, failure)
            raise

    def _read(self, offset: int, out: Any, *where: int) -> Any:
        array, result = to_fill(out)
        call(fail_here, self._core.read, whole(offset, "offset"), address(array), array.nbytes, *where)
        return result

    def _write(self, offset: int, data: Any, *where: int) -> None:
        array = to_write(data)
        call(fail_here, self._core.write, whole(offset, "offset"), address(array), array.nbytes, *where)

    def _iread(self, offset: int, out: Any, *where: int) -> Request[Any]:
        array, result = to_fill(out)
        begin = whole(offset, "offset")
        start = partial(call, fail_here, self._core.start_read, begin, address(array), array.nbytes, *where)
        return Request(start, self, [array], result)

    def _iwrite(self, offset: int, data: Any, *where: int) -> Request[None]:
        array = to_write(data)
        begin = whole(offset, "offset")
        start = partial(call, fail_here, self._core.start_write, begin, address(array), array.nbytes, *where)
        return Request(start, self, [array], None)
