"""Distant I/O: one-sided reads and writes of files on other ranks' disks."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from . import _core
from ._arguments.buffers import to_whole_number
from ._arguments.flags import check_flag
from ._arguments.words import kind
from ._base.errors import ArgumentError, naming_file
from ._calls.comm import CommLike, to_core_comm
from ._calls.guard import call, collective_errors, fail_here, plait_errors
from ._calls.request import Request
from ._file.byte_file import ByteFile, Out

__all__ = ["DistantFile", "find", "offer", "open", "wait_all"]

PathLike = str | os.PathLike[str]


class DistantFile(ByteFile[_core.DistantFile]):
    """A handle to files of several ranks, at most one of each, or to one file that a rank offers under a name.

    Made by :func:`open`, :func:`offer` and :func:`find`. Offsets and sizes are in bytes; ``rank`` is the rank that owns
    the file, and may be left out if the handle refers to one file. Any number of threads may use it at once.
    """

    def __init__(self, core: _core.DistantFile, comm: _core.Comm) -> None:
        """Use :func:`open`, :func:`offer` or :func:`find`."""
        super().__init__(core)
        self._comm = comm

    @property
    def owner(self) -> int | None:
        """The rank that owns an offered or found file; None for files that were opened together."""
        return None if self._core.owner < 0 else self._core.owner

    @plait_errors
    def direct(self, rank: int) -> bool:
        """Return True if this process accesses the file of a rank without sending a message."""
        return call(fail_here, self._core.direct, to_whole_number(rank, "rank"))

    @overload
    def read(self, offset: int, out: int, rank: int | None = ...) -> npt.NDArray[np.uint8]: ...
    @overload
    def read(self, offset: int, out: Out, rank: int | None = ...) -> Out: ...
    @plait_errors
    def read(self, offset: int, out: Any, rank: int | None = None) -> Any:
        """Read bytes from the file of a rank.

        out     the number of bytes to read into a new uint8 array, or an object with a contiguous buffer to fill

        Returns the array or the object. Raises plait.StoreError if the file ends before, or if the rank has ended.
        """
        return self._read(offset, out, self._resolve_rank(rank))

    @plait_errors
    def write(self, offset: int, data: Any, rank: int | None = None) -> None:
        """Write the bytes of an object with a contiguous buffer to the file of a rank, which grows if needed.

        Every read that begins after this has returned, by any rank, gets the new bytes.
        """
        self._write(offset, data, self._resolve_rank(rank))

    @overload
    def iread(self, offset: int, out: int, rank: int | None = ...) -> Request[npt.NDArray[np.uint8]]: ...
    @overload
    def iread(self, offset: int, out: Out, rank: int | None = ...) -> Request[Out]: ...
    @plait_errors
    def iread(self, offset: int, out: Any, rank: int | None = None) -> Request[Any]:
        """Start a :meth:`read`; ``wait()`` of the Request returns its result. Do not use the memory before."""
        return self._iread(offset, out, self._resolve_rank(rank))

    @plait_errors
    def iwrite(self, offset: int, data: Any, rank: int | None = None) -> Request[None]:
        """Start a :meth:`write`; do not change the data before ``wait()`` has returned."""
        return self._iwrite(offset, data, self._resolve_rank(rank))

    @plait_errors
    def sync(self, rank: int | None = None) -> None:
        """Make all completed writes durable on the disk of a rank."""
        call(fail_here, self._core.sync, self._resolve_rank(rank))

    @plait_errors
    def isync(self, rank: int | None = None) -> Request[None]:
        """Start a :meth:`sync`."""
        server = self._resolve_rank(rank)
        return Request(lambda: call(fail_here, self._core.start_sync, server), self, [], None)

    @plait_errors
    def size(self, rank: int | None = None) -> int:
        """Return the size in bytes of the file of a rank."""
        return call(fail_here, self._core.size, self._resolve_rank(rank))

    @plait_errors
    def resize(self, size: int, rank: int | None = None) -> None:
        """Set the size in bytes of the file of a rank; new bytes are zero."""
        call(fail_here, self._core.resize, to_whole_number(size, "size"), self._resolve_rank(rank))

    def close(self) -> None:
        """Wait for this rank's requests and close the handle. Collective if :func:`open` made it."""
        self._core.close()

    def __repr__(self) -> str:
        """Return a description with the state of the handle and the location of the file."""
        state = "closed " if self.closed else ""
        location = f"owned by rank {self.owner}" if self.owner is not None else f"of {self._comm.size} ranks"
        return f"<{state}plait.distant.DistantFile {location}>"

    def _resolve_rank(self, rank: int | None) -> int:
        if rank is not None:
            return to_whole_number(rank, "rank")
        if self.owner is not None:
            return self.owner
        if self._comm.size == 1:
            return 0
        raise ArgumentError(f"rank is missing; give the one of the {self._comm.size} ranks that has the file")


def path_to_text(path: PathLike, what: str = "path") -> str:
    """Return a path as the text that C++ takes."""
    try:
        text = os.fspath(path)
    except TypeError:
        raise ArgumentError(f"{what} is {kind(path)}; pass a str or a path") from None
    if not isinstance(text, str):
        raise ArgumentError(f"{what}={path!r} is not a text; pass a str")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(f"{what}={path!r} cannot be passed on: {error}") from None
    if "\0" in text:
        raise ArgumentError(f"{what}={path!r} contains a null character; leave that out")
    return text


def open(path: PathLike | None, mode: str = "r", *, comm: CommLike = None, temporary: bool = False) -> DistantFile:
    """Open or create a file on each rank's own disk, and make one handle for all of them. Collective.

    path       the path of this rank's file; None if this rank has none
    mode       r, r+, or w: a new file, to read and write
    comm       an mpi4py communicator; without it this process is alone
    temporary  the file is removed when the handle is closed

    Raises the same error on every rank.
    """
    core_comm = to_core_comm(comm)
    fail = partial(_core.DistantFile.fail_open, comm=core_comm)
    with collective_errors(fail):
        name = "" if path is None else path_to_text(path)
        file_mode, is_temporary = path_to_text(mode, "mode"), check_flag(temporary, "temporary")
    with naming_file(name):
        return DistantFile(call(fail, _core.DistantFile.open, name, file_mode, is_temporary, core_comm), core_comm)


def offer(name: str, path: PathLike, mode: str = "r", *, comm: CommLike = None, temporary: bool = False) -> DistantFile:
    """Open a file of this rank and register it under a name, so that other ranks :func:`find` it until it is closed.

    Not collective; but :func:`open` must have been called on the communicator before. Raises plait.ArgumentError if the
    name is taken.
    """
    core_comm = to_core_comm(comm)
    with collective_errors(fail_here):
        arguments = (
            path_to_text(name, "name"),
            path_to_text(path),
            path_to_text(mode, "mode"),
            check_flag(temporary, "temporary"),
        )
    with naming_file(arguments[1]):
        return DistantFile(call(fail_here, _core.DistantFile.offer, *arguments, core_comm), core_comm)


def find(name: str, *, comm: CommLike = None) -> DistantFile:
    """Return the file that a rank offers under a name. Not collective; the condition of :func:`offer` holds here too.

    Raises plait.ArgumentError if no rank offers that name.
    """
    core_comm = to_core_comm(comm)
    with collective_errors(fail_here):
        text = path_to_text(name, "name")
    return DistantFile(call(fail_here, _core.DistantFile.find, text, core_comm), core_comm)


def wait_all(requests: Iterable[Request[Any]]) -> list[Any]:
    """Wait for all requests and return their results; raise the first error once all have ended."""
    results: list[Any] = []
    first: BaseException | None = None
    for request in requests:
        try:
            results.append(request.wait())
        except Exception as error:
            first = first or error
    if first is not None:
        raise first
    return results
