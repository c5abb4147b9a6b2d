"""Shared Files: one logical file over the disks of all ranks, read and written by any rank at any offset."""

from __future__ import annotations

from functools import partial
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from . import _core
from ._arguments.buffers import to_whole_number
from ._arguments.flags import check_flag
from ._base.errors import naming_file
from ._calls.comm import CommLike, to_core_comm
from ._calls.guard import call, collective_errors, fail_here, plait_errors
from ._calls.request import Request
from ._file.byte_file import ByteFile, Out
from .distant import PathLike, path_to_text, wait_all

__all__ = ["SharedFile", "open", "wait_all"]


class SharedFile(ByteFile[_core.SharedFile]):
    """One file that all ranks read and write, on the disks of all of them or on one that they share.

    Objects are made by :func:`open`. Offsets and sizes are in bytes. Bytes that were never written read as zero. Any
    number of threads may use it at once.
    """

    def __init__(self, core: _core.SharedFile, path: str) -> None:
        """Use :func:`open`."""
        super().__init__(core)
        self._path = path

    @property
    def striped(self) -> bool:
        """True for component files on the disks of ranks; False for one file that all ranks see."""
        return self._core.striped

    @property
    def components(self) -> int:
        """The number of component files; 1 for one file that all ranks see."""
        return self._core.components

    @property
    def unit(self) -> int:
        """The bytes of a stripe; 0 for one file that all ranks see."""
        return self._core.unit

    @plait_errors
    def owner(self, component: int) -> int:
        """Return the rank that has a component on its disk."""
        return call(fail_here, self._core.owner, to_whole_number(component, "component"))

    @overload
    def read(self, offset: int, out: int) -> npt.NDArray[np.uint8]: ...
    @overload
    def read(self, offset: int, out: Out) -> Out: ...
    @plait_errors
    def read(self, offset: int, out: Any) -> Any:
        """Read bytes.

        out     the number of bytes to read into a new uint8 array, or an object with a contiguous buffer to fill

        Returns the array or the object. Raises plait.StoreError if the file ends before, or if a rank that is needed
        has ended.
        """
        return self._read(offset, out)

    @plait_errors
    def write(self, offset: int, data: Any) -> None:
        """Write the bytes of an object with a contiguous buffer; the file grows if needed.

        Every read that begins after this has returned, by any rank, gets the new bytes.
        """
        self._write(offset, data)

    @overload
    def iread(self, offset: int, out: int) -> Request[npt.NDArray[np.uint8]]: ...
    @overload
    def iread(self, offset: int, out: Out) -> Request[Out]: ...
    @plait_errors
    def iread(self, offset: int, out: Any) -> Request[Any]:
        """Start a :meth:`read`; ``wait()`` of the Request returns its result. Do not use the memory before."""
        return self._iread(offset, out)

    @plait_errors
    def iwrite(self, offset: int, data: Any) -> Request[None]:
        """Start a :meth:`write`; do not change the data before ``wait()`` has returned."""
        return self._iwrite(offset, data)

    def size(self) -> int:
        """Return the size in bytes: one more than the offset of the last byte written. Asks every component."""
        return self._core.size()

    def resize(self, size: int) -> None:
        """Set the size in bytes; new bytes are zero. Collective."""
        with collective_errors(self._core.fail):
            byte_count = to_whole_number(size, "size")
        call(self._core.fail, self._core.resize, byte_count)

    def sync(self) -> None:
        """Make all writes that any rank has waited for durable. Not collective."""
        self._core.sync()

    def read_only(self) -> None:
        """Make any later write by this rank an error."""
        self._core.read_only()

    def close(self) -> None:
        """Wait for this rank's requests and close the handle; a file that is not persistent is deleted. Collective."""
        self._core.close()

    def abandon(self) -> None:
        """Close the handle on a rank that cannot continue; the next collective call of the other ranks on it fails."""
        self._core.abandon()

    def __repr__(self) -> str:
        """Return a description with the path of the file and its location."""
        if self.closed:
            return f"<closed plait.shared.SharedFile {self._path!r}>"
        location = f"{self.components} components, stripes of {self.unit} bytes" if self.striped else "one file"
        return f"<plait.shared.SharedFile {self._path!r}, {location}>"


def open(
    path: PathLike,
    mode: str = "r",
    *,
    comm: CommLike = None,
    persistent: bool = False,
    atomic: bool = False,
    request: int | None = None,
    unit: int | None = None,
    limit: int | None = None,
    expected: int | None = None,
    striped: bool | None = None,
) -> SharedFile:
    """Open or create a shared file. Collective, with the same arguments on every rank.

    path        the path of the file; its folder is on each rank's own disk, or is one that all ranks see
    mode        "r", "r+", or "w": a new file, to read and write
    comm        an mpi4py communicator; default: this process alone
    persistent  mode w: closing the file does not delete it, and it replaces a persistent file of that name; otherwise
                it is deleted when it is closed
    atomic      mode w, persistent: an existing file of that name stays until the new one has been closed without error
    request     bytes of a typical request, from which the size of a stripe is computed
    unit        bytes of a stripe, instead of ``request``; 32 KiB if neither is given
    limit       no byte may be written at or beyond this offset
    expected    expected size of the file in bytes; a warning is issued if the disks have less free space
    striped     True: a component file on each rank's disk; False: one file that all ranks see; None: one file if all
                ranks see the same folder, otherwise component files

    Raises the same error on every rank.
    """
    core_comm = to_core_comm(comm)
    fail = partial(_core.SharedFile.fail_open, comm=core_comm)
    with collective_errors(fail):
        name = path_to_text(path)
        numbers = {
            what: 0 if value is None else to_whole_number(value, what)
            for what, value in (("request", request), ("unit", unit), ("limit", limit), ("expected", expected))
        }
        mode_text = path_to_text(mode, "mode")
        flags = check_flag(persistent, "persistent"), check_flag(atomic, "atomic")
        checked_striped = None if striped is None else check_flag(striped, "striped")
    with naming_file(name):
        core = call(
            fail,
            _core.SharedFile.open,
            path=name,
            mode=mode_text,
            persistent=flags[0],
            atomic=flags[1],
            striped=checked_striped,
            comm=core_comm,
            **numbers,
        )
    return SharedFile(core, name)
