"""The measured accesses of `plait bench io` on one rank, to one file under one distribution.

Each access reads or writes the whole array: by one of Plait's strategies, by MPI-IO, or by one of the other baselines
that `plait_bench.job` lists.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

import plait
from plait_bench.cells import CONFORMING, Cell
from plait_bench.job import DIRECT, DISK, FORTRAN, MPI_IO, OPTIMAL, PLAIN, REDISTRIBUTION, TOTAL, Job
from plait_bench.mpiio import MpiIoFile
from plait_bench.page_cache import drop_file
from plait_bench.pattern import pattern, same_bytes
from plait_bench.plain_reads import read_past_cache, read_plainly
from plait_bench.primitives import PrimitivesFile

_POISON = 0xA5  # the byte that fills arrays before reads
_CHECK_BYTES = 1 << 24  # bytes of the file compared at a time


class Access:
    """All accesses of one rank under one distribution.

    All accesses use the same two local arrays, which are allocated once: one for the requested layout, one for the
    conforming layout, under which each rank has one contiguous range of the file.
    """

    def __init__(self, comm: MPI.Intracomm, job: Job, cell: Cell, accesses: list[str]) -> None:
        """Open the job's file once for each access that `accesses` names."""
        case, path = job.case, Path(job.path)
        self._comm, self._path, self._case, self._conditions = comm, path, case, job.conditions
        self._dtype = np.dtype(case.dtype)
        shape = (case.extent, case.extent)
        self.layout = cell.layout(shape, comm.size)
        self._conforming = CONFORMING.layout(shape, comm.size)
        self._indices = self.layout.indices(comm.rank)
        self._conforming_indices = self._conforming.indices(comm.rank)
        self._round = 0
        self._cleanup = ExitStack()
        self._file: plait.File | None = None
        self._direct_file: plait.File | None = None
        self._needs_file = not {TOTAL, OPTIMAL, REDISTRIBUTION}.isdisjoint(accesses)
        self._needs_direct_file = DIRECT in accesses
        self._open_files()
        self._unit: PrimitivesFile | None = None
        if FORTRAN in accesses:
            self._unit = PrimitivesFile(path, 3, case, cell, comm.size)
            self._cleanup.callback(self._unit.close)
        self._mpi_file: MpiIoFile | None = None
        if MPI_IO in accesses:
            self._mpi_file = MpiIoFile(comm, path, case, cell)
            self._cleanup.callback(self._mpi_file.close)
        self._local = self._pattern(self._indices, 0)
        self._conforming_local = self._pattern(self._conforming_indices, 0)
        self._expected_local = self._local.copy(order="F")
        self._expected_conforming = self._conforming_local.copy(order="F")
        self._converted: npt.NDArray[Any] | None = None

    def _open_files(self) -> None:
        """Open Plait's files, after closing the open ones."""
        self._close_files()
        self._file = self._open_plait(strategy=None) if self._needs_file else None
        self._direct_file = self._open_plait(strategy="direct") if self._needs_direct_file else None

    def _close_files(self) -> None:
        for file in (self._file, self._direct_file):
            if file is not None:
                file.close()

    def _open_plait(self, strategy: Literal["direct"] | None) -> plait.File:
        return plait.open(
            str(self._path),
            "r" if self._case.operation == "read" else "r+",
            comm=self._comm,
            shape=(self._case.extent, self._case.extent),
            dtype=self._dtype,
            order="F",
            strategy=strategy,
            memory=self._conditions.memory,
        )

    def _pattern(self, indices: tuple[npt.NDArray[np.int64], ...], round_: int) -> npt.NDArray[Any]:
        return pattern(indices[0], indices[1], self._case.extent, self._dtype, round_)

    def prepare(self, round_: int) -> None:
        """Overwrite the local arrays, so that data of the last access cannot be mistaken for data of the next one."""
        if self._case.operation == "read":
            for array in (self._local, self._conforming_local):
                array.ravel(order="K").view(np.uint8).fill(_POISON)
        else:
            self._round = round_
            self._local[...] = self._pattern(self._indices, round_)
            self._conforming_local[...] = self._pattern(self._conforming_indices, round_)
        self._converted = None
        self._comm.Barrier()
        if self._conditions.cold:
            if self._comm.rank == 0:
                drop_file(self._path)
            self._comm.Barrier()
            # Reopen the files, as a new program would: Plait caches data that is requested a second time.
            self._open_files()

    def set_view(self) -> None:
        """Set the MPI-IO view."""
        assert self._mpi_file is not None
        self._mpi_file.set_view()

    def run(self, access: str) -> None:
        """Make one access, together with all other ranks."""
        actions: dict[str, Callable[[], None]] = {
            OPTIMAL: lambda: self._transfer(self._file, self._conforming_local, self._conforming),
            REDISTRIBUTION: self._redistribute,
            TOTAL: lambda: self._transfer(self._file, self._local, self.layout),
            DIRECT: lambda: self._transfer(self._direct_file, self._local, self.layout),
            FORTRAN: self._transfer_by_fortran,
            MPI_IO: self._transfer_by_mpi,
            PLAIN: lambda: self._on_one_rank(read_plainly),
            DISK: lambda: self._on_one_rank(read_past_cache),
        }
        actions[access]()

    def last_times(self, access: str) -> dict[str, float] | None:
        """Return the times of the phases of this rank's last access; None if it was not an access of a Plait file."""
        files = {OPTIMAL: self._file, TOTAL: self._file, DIRECT: self._direct_file}
        file = files.get(access)
        return None if file is None else file.last_times()

    def _transfer(self, file: plait.File | None, local: npt.NDArray[Any], layout: plait.Layout) -> None:
        assert file is not None
        if self._case.operation == "read":
            file.read(layout, out=local)
        else:
            file.write(local, layout)

    def _transfer_by_fortran(self) -> None:
        assert self._unit is not None
        self._unit.transfer(self._local, write=self._case.operation == "write")

    def _transfer_by_mpi(self) -> None:
        assert self._mpi_file is not None
        if self._case.operation == "read":
            self._mpi_file.read(self._local)
        else:
            self._mpi_file.write(self._local)

    def _on_one_rank(self, read: Callable[[Path], None]) -> None:
        if self._comm.rank == 0:
            read(self._path)

    def _redistribute(self) -> None:
        if self._case.operation == "read":
            self._converted = plait.redistribute(self._expected_conforming, self._conforming, self.layout, self._comm)
        else:
            self._converted = plait.redistribute(self._local, self.layout, self._conforming, self._comm)

    def is_correct(self, access: str) -> bool:
        """Return True if this rank has every byte that the access should have transferred."""
        if access in (PLAIN, DISK):
            return True  # these measure the disk and discard the data
        if access == REDISTRIBUTION:
            assert self._converted is not None
            expected = self._expected_local if self._case.operation == "read" else self._conforming_local
            return same_bytes(self._converted, expected)
        if self._case.operation == "read":
            if access == OPTIMAL:
                return same_bytes(self._conforming_local, self._expected_conforming)
            return same_bytes(self._local, self._expected_local)
        return self._file_is_correct()

    def _file_is_correct(self) -> bool:
        """Compare the whole file with the pattern of this round on rank 0; return True on all other ranks."""
        self._comm.Barrier()
        correct = True
        if self._comm.rank == 0:
            extent = self._case.extent
            rows = np.arange(extent, dtype=np.int64)
            columns_at_a_time = max(1, _CHECK_BYTES // max(1, extent * self._dtype.itemsize))
            with self._path.open("rb") as file:
                for first_column in range(0, extent, columns_at_a_time):
                    columns = np.arange(first_column, min(first_column + columns_at_a_time, extent), dtype=np.int64)
                    expected = pattern(rows, columns, extent, self._dtype, self._round).T
                    actual = np.fromfile(file, self._dtype, expected.size)
                    correct = correct and same_bytes(actual, expected.ravel())
                correct = correct and not file.read(1)  # the file ends here
        self._comm.Barrier()
        return correct

    def __enter__(self) -> Access:
        """Return the accesses; leaving `with` closes their files."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close all files."""
        self._close_files()
        self._cleanup.close()
