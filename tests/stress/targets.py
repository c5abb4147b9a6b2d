"""The two kinds of files that storm.py reads and writes, distant files and shared files, with one interface."""

from pathlib import Path
from typing import Any

from mpi4py import MPI

from plait import distant, shared


class DistantFiles:
    """One distant file for each rank, on that rank's disk; file n is the file of rank n."""

    def __init__(self, folder: str, comm: MPI.Comm) -> None:
        self.files = comm.size
        self._file = distant.open(Path(folder) / f"stress-disk-{comm.rank}", "w", comm=comm, temporary=True)

    def iwrite(self, offset: int, data: Any, file: int) -> Any:
        return self._file.iwrite(offset, data, file)

    def iread(self, offset: int, count: int, file: int) -> Any:
        return self._file.iread(offset, count, file)

    def size(self, file: int) -> int:
        return self._file.size(file)

    def sync(self, file: int) -> None:
        self._file.sync(file)

    def resize(self, size: int, file: int, rank: int) -> None:
        """Called by all ranks; one of them, which is not the owner of the file, resizes it."""
        if rank == (file + 1) % self.files:
            self._file.resize(size, file)

    def servers(self, offset: int, count: int, file: int) -> set[int]:
        """Returns the ranks whose disks have these bytes."""
        return {file}

    def pieces(self, begin: int, end: int, file: int) -> list[tuple[int, int]]:
        """Splits the range [begin, end) into pieces, each of which is on the disk of one rank."""
        return [(begin, end)]

    def close(self) -> None:
        self._file.close()

    def abandon(self) -> None:
        """Closes the file without waiting for the other ranks, as a `with` block does that ends with an exception."""
        self._file.__exit__(RuntimeError, None, None)


class SharedStripes:
    """One shared file of all ranks, either in stripes on their disks or in one folder (striped=False)."""

    files = 1

    def __init__(self, folder: str, comm: MPI.Comm, unit: int, striped: bool) -> None:
        self._ranks = comm.size
        self._unit = unit
        self._is_one_file = not striped
        self._file = shared.open(Path(folder) / "stress-shared", "w", comm=comm, unit=unit, striped=striped)

    def iwrite(self, offset: int, data: Any, file: int) -> Any:
        return self._file.iwrite(offset, data)

    def iread(self, offset: int, count: int, file: int) -> Any:
        return self._file.iread(offset, count)

    def size(self, file: int) -> int:
        return self._file.size()

    def sync(self, file: int) -> None:
        self._file.sync()

    def resize(self, size: int, file: int, rank: int) -> None:
        self._file.resize(size)

    def servers(self, offset: int, count: int, file: int) -> set[int]:
        if self._is_one_file or count == 0:
            return set()
        first, last = offset // self._unit, (offset + count - 1) // self._unit
        return {stripe % self._ranks for stripe in range(first, min(last, first + self._ranks - 1) + 1)}

    def pieces(self, begin: int, end: int, file: int) -> list[tuple[int, int]]:
        if self._is_one_file:
            return [(begin, end)]
        cuts = range(begin - begin % self._unit, end, self._unit)
        return [(max(begin, cut), min(end, cut + self._unit)) for cut in cuts]

    def close(self) -> None:
        self._file.close()

    def abandon(self) -> None:
        self._file.abandon()
