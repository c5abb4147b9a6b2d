"""Shared Files: one logical file over the disks of all ranks, read and written by any rank at any offset."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

from . import _core
from ._arguments.buffers import whole
from ._byte_file import ByteFile
from ._comm import CommLike, comm_of
from ._errors import naming
from ._guard import alone, call, checks, refuse_here
from ._held import flag_of
from ._request import Request
from .distant import PathLike, text_of, wait_all

__all__ = ["SharedFile", "open", "wait_all"]

Place = Literal["detect", "one", "striped"]


class SharedFile(ByteFile[_core.SharedFile]):
    """One file that all ranks read and write, on the disks of all of them or on one that they share.

    Made by :func:`open`. Offsets and sizes are in bytes. What was never written reads as zero. Any thread may use it at
    any time.
    """

    def __init__(self, core: _core.SharedFile, path: str) -> None:
        """Use :func:`open`."""
        super().__init__(core)
        self._path = path

    @property
    def one(self) -> bool:
        """Whether it is one file that all ranks see, rather than a component of each."""
        return self._core.one

    @property
    def components(self) -> int:
        """The number of component files; 1 for one that all see."""
        return self._core.components

    @property
    def unit(self) -> int:
        """The bytes of a stripe; 0 where the file is one."""
        return self._core.unit

    @alone
    def home(self, component: int) -> int:
        """Return the rank that has a component on its disk."""
        return call(refuse_here, self._core.home, whole(component, "component"))

    @alone
    def read(self, offset: int, out: Any) -> Any:
        """Read bytes.

        out     how many bytes to read, into a new array of bytes, or what to fill: anything with a contiguous buffer

        Returns the array. Raises plait.StoreError where the file ends before, or a rank that is needed has ended.
        """
        return self._read(offset, out)

    @alone
    def write(self, offset: int, data: Any) -> None:
        """Write what has a contiguous buffer. The file grows where it passes the end.

        Once this has returned every read that begins later, of any rank, finds it.
        """
        self._write(offset, data)

    @alone
    def iread(self, offset: int, out: Any) -> Request:
        """Begin a :meth:`read`; ``wait()`` returns the array, which nobody may use before."""
        return self._iread(offset, out)

    @alone
    def iwrite(self, offset: int, data: Any) -> Request:
        """Begin a :meth:`write`; do not change the data before ``wait()`` has returned."""
        return self._iwrite(offset, data)

    def size(self) -> int:
        """Return the bytes of the file: one more than the offset of the last that was written. Asks every component."""
        return self._core.size()

    def resize(self, size: int) -> None:
        """Give the file so many bytes; new ones are zero. Collective."""
        with checks(self._core.refuse):
            wanted = whole(size, "size")
        call(self._core.refuse, self._core.resize, wanted)

    def sync(self) -> None:
        """Make what any rank has written and waited for durable."""
        self._core.sync()

    def read_only(self) -> None:
        """From now on writing is an error for this rank."""
        self._core.read_only()

    def close(self) -> None:
        """Wait for this rank's requests and end the handle; a file that is not persistent is gone. Collective."""
        self._core.close()

    def abandon(self) -> None:
        """End the handle on a rank that cannot go on; the others are told in their next collective call of it."""
        self._core.abandon()

    def __repr__(self) -> str:
        """Say what file it is and where it is."""
        if self.closed:
            return f"<closed plait.shared.SharedFile {self._path!r}>"
        where = "one file" if self.one else f"{self.components} components, stripes of {self.unit} bytes"
        return f"<plait.shared.SharedFile {self._path!r}, {where}>"


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
    place: Place = "detect",
) -> SharedFile:
    """Open or make a shared file. Collective, with the same arguments on every rank.

    path        its folder is on each rank's own disk, or seen by all
    mode        r, r+, or w: a new file, to read and write
    comm        an mpi4py communicator; without it this process is alone
    persistent  mode w: the file stays, in place of one of the same name; otherwise it is gone when it is closed
    atomic      mode w, persistent: what it replaces stays until the file has been closed without an error
    request     bytes of a typical request, from which the size of stripes follows
    unit        bytes of a stripe, instead; 32 KiB where neither is given
    limit       nothing may be written at or behind this offset
    expected    bytes that the file is expected to get; where disks lack the room, a warning says so
    place       one: a file that all ranks see; striped: a component file on each rank's disk; detect: one where all
                ranks see the same folder, else striped

    MPI must have been initialised for MPI_THREAD_MULTIPLE, as mpi4py does. Raises the same error on every rank.
    """
    own = comm_of(comm)
    refuse = partial(_core.SharedFile.refuse_open, comm=own)
    with checks(refuse):
        name = text_of(path)
        numbers = {
            what: 0 if value is None else whole(value, what)
            for what, value in (("request", request), ("unit", unit), ("limit", limit), ("expected", expected))
        }
        words = text_of(mode, "mode"), text_of(place, "place")
        flags = flag_of(persistent, "persistent"), flag_of(atomic, "atomic")
    with naming(name):
        core = call(
            refuse,
            _core.SharedFile.open,
            path=name,
            mode=words[0],
            persistent=flags[0],
            atomic=flags[1],
            place=words[1],
            comm=own,
            **numbers,
        )
    return SharedFile(core, name)
