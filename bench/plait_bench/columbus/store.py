"""The two files of `plait bench columbus`, with the same interface."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from mpi4py import MPI

import plait
from plait import distant, shared
from plait_bench.columbus.job import SHARED
from plait_bench.page_cache import Allowance, drop_files


class Store(ABC):
    """A file that all ranks read and write; the page cache of each node holds at most a limited part of it."""

    description: str
    """A description for the table."""

    def __init__(self, prefix: str, memory: float) -> None:
        """`memory` is the number of bytes that this rank reads and writes before it drops the file from the cache."""
        self._prefix = prefix
        self._allowance = Allowance(prefix, memory)

    @abstractmethod
    def read(self, offset: int, out: Any) -> None:
        """Fill `out` with the bytes at `offset`."""

    @abstractmethod
    def write(self, offset: int, data: Any) -> None:
        """Write bytes at `offset`."""

    @abstractmethod
    def close(self) -> None:
        """Remove the file.  Collective."""

    def count_bytes(self, count: int) -> bool:
        """Count bytes that were read or written; return True if the file was therefore dropped from the page cache."""
        return self._allowance.count_bytes(count)

    def drop(self) -> None:
        """Drop the files that this rank has open from the page cache."""
        drop_files(self._prefix)


class _SharedFile(Store):
    """A file that is striped over component files of all ranks."""

    def __init__(self, prefix: str, memory: int, request: int, comm: MPI.Intracomm) -> None:
        super().__init__(prefix, memory)
        self._file = shared.open(prefix, "w", comm=comm, request=request, striped=True)
        self.description = f"{self._file.components} component files, stripes of {self._file.unit >> 10} KiB"

    def read(self, offset: int, out: Any) -> None:
        self._file.read(offset, out)

    def write(self, offset: int, data: Any) -> None:
        self._file.write(offset, data)

    def close(self) -> None:
        self._file.close()


class _PlainFile(Store):
    """One file that all ranks can open, accessed by pread and pwrite."""

    description = "by pread and pwrite"

    def __init__(self, prefix: str, memory: int, descriptor: int) -> None:
        super().__init__(prefix, memory)
        self._descriptor = descriptor

    def read(self, offset: int, out: Any) -> None:
        view = memoryview(out)
        while view:
            count = os.preadv(self._descriptor, [view], offset)
            if count == 0:
                raise plait.Error(f"the file of records ends at {offset}")
            view, offset = view[count:], offset + count

    def write(self, offset: int, data: Any) -> None:
        view = memoryview(data)
        while view:
            count = os.pwrite(self._descriptor, view, offset)
            view, offset = view[count:], offset + count

    def close(self) -> None:
        os.close(self._descriptor)


class _ServedFile(Store):
    """One file of rank 0, whose disk the other ranks access through Distant I/O, as clients of a server."""

    description = "on the disk of rank 0, served by Distant I/O"

    def __init__(self, prefix: str, memory: int, comm: MPI.Intracomm) -> None:
        self._file = distant.open(prefix if comm.rank == 0 else None, "w", comm=comm, temporary=True)
        # All ranks read and write this file, but only ranks on its node can drop it.  If D of P ranks can, each of them
        # must therefore drop it P/D times as often, after memory * D / P of its own bytes.
        droppers = comm.allreduce(int(self._file.direct(0)))
        super().__init__(prefix, memory * droppers / comm.size)

    def read(self, offset: int, out: Any) -> None:
        self._file.read(offset, out, 0)

    def write(self, offset: int, data: Any) -> None:
        self._file.write(offset, data, 0)

    def close(self) -> None:
        self._file.close()


def open_store(location: str, folder: Path, memory: int, request: int, comm: MPI.Intracomm) -> Store:
    """Make the file of a location, which disappears even if the program is killed.  Collective.

    request  mean bytes of a request, from which Shared Files compute the size of a stripe
    """
    name = comm.bcast(f"plait-columbus-{os.getpid()}-{location}-{os.urandom(4).hex()}")
    prefix = str(folder.resolve() / name)
    if location == SHARED:
        return _SharedFile(prefix, memory, request, comm)
    if comm.rank == 0:
        Path(prefix).touch(exist_ok=False)
    comm.Barrier()
    try:
        descriptor = os.open(prefix, os.O_RDWR)
    except FileNotFoundError:
        descriptor = -1
    is_shared_folder = comm.allreduce(descriptor >= 0, op=MPI.LAND)
    if comm.rank == 0:
        Path(prefix).unlink()
    if is_shared_folder:
        return _PlainFile(prefix, memory, descriptor)
    if descriptor >= 0:
        os.close(descriptor)
    return _ServedFile(prefix, memory, comm)
