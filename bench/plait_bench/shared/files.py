"""The two files of `plait bench shared`, with the same interface: striped over all disks, and on one disk."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Protocol

from mpi4py import MPI

from plait import distant, shared
from plait_bench.shared.job import SHARED


class PendingRequest(Protocol):
    """A request in flight."""

    def wait(self) -> Any:
        """Wait until the request has ended."""


class MeasuredFile(Protocol):
    """A file that all ranks of a communicator read and write."""

    prefix: str
    """The beginning of the paths of its parts."""

    def iread(self, offset: int, out: Any) -> PendingRequest:
        """Begin to fill `out`."""

    def iwrite(self, offset: int, data: Any) -> PendingRequest:
        """Begin to write."""

    def sync(self) -> None:
        """Make the written data durable."""

    def close(self) -> None:
        """Remove the file.  Collective."""


class _StripedFile:
    """A file of Shared Files, with a component file on the disk of each rank."""

    def __init__(self, prefix: str, request: int, comm: MPI.Intracomm) -> None:
        self.prefix = prefix
        file = shared.open(prefix, "w", comm=comm, unit=request, striped=True)
        self.iread, self.iwrite, self.sync, self.close = file.iread, file.iwrite, file.sync, file.close


class _RemoteFile:
    """One file of rank 0, which the other ranks access through Distant I/O like clients of a server."""

    def __init__(self, prefix: str, comm: MPI.Intracomm) -> None:
        self.prefix = prefix
        self._file = distant.open(prefix if comm.rank == 0 else None, "w", comm=comm, temporary=True)

    def iread(self, offset: int, out: Any) -> PendingRequest:
        return self._file.iread(offset, out, 0)

    def iwrite(self, offset: int, data: Any) -> PendingRequest:
        return self._file.iwrite(offset, data, 0)

    def sync(self) -> None:
        self._file.sync(0)

    def close(self) -> None:
        self._file.close()


def open_measured(location: str, folder: Path, request: int, comm: MPI.Intracomm) -> MeasuredFile:
    """Make the file in one of the LOCATIONS; the system removes it even if the program is killed.  Collective."""
    name = comm.bcast(f"plait-shared-{os.getpid()}-{location}-{os.urandom(4).hex()}")
    prefix = str(folder.resolve() / name)
    return _StripedFile(prefix, request, comm) if location == SHARED else _RemoteFile(prefix, comm)
