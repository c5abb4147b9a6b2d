"""The ranks of `plait bench mpiio`: ``mpiexec -n P python -m plait_bench.unchanged.ranks JOB``."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from mpi4py import MPI

from plait_bench.ranks import Ranks, run_job
from plait_bench.unchanged.job import OFFSET, READ, ROWS, VIEW_WRITE, UnchangedCase, UnchangedJob
from plait_bench.unchanged.lists import ListAccesses

_WARM = 2
"""Number of accesses before the first sample, which include the first use of memory and of the file's pages."""


def make_content(edge: int) -> np.ndarray:
    """Return the whole array of a square."""
    return np.arange(edge * edge, dtype=np.float64).reshape(edge, edge)


def owned_indices(case: UnchangedCase, rank: int) -> list[np.ndarray]:
    """Return the rows and the columns of a rank."""
    indices = []
    for parts, coordinate in zip(case.grid, np.unravel_index(rank, case.grid), strict=True):
        index = np.arange(case.edge)
        block = 1 if "cyclic" in case.view else max(1, -(-case.edge // parts))
        indices.append(index[index // block % parts == int(coordinate)])
    return indices


class SquareAccesses:
    """The accesses of one case of a square on one rank."""

    def __init__(self, case: UnchangedCase, comm: MPI.Intracomm, path: str) -> None:
        """Make the datatype and the contents, and let rank 0 write the file."""
        self._case, self._comm, self._path = case, comm, path
        self._expected_file = make_content(case.edge)
        if comm.rank == 0:
            (self._expected_file if case.access == READ else np.zeros(0)).tofile(path)
        comm.Barrier()
        rows, columns = owned_indices(case, comm.rank)
        self._expected = np.ascontiguousarray(self._expected_file[np.ix_(rows, columns)])
        self._received = np.zeros_like(self._expected)
        self._offset = int(rows[0]) * case.edge * 8 if len(rows) else 0
        kind = MPI.DISTRIBUTE_CYCLIC if "cyclic" in case.view else MPI.DISTRIBUTE_BLOCK
        kinds = [kind, MPI.DISTRIBUTE_NONE if case.view in (OFFSET, ROWS) else kind]
        self._type = MPI.DOUBLE.Create_darray(
            comm.size, comm.rank, [case.edge] * 2, kinds, [MPI.DISTRIBUTE_DFLT_DARG] * 2, case.grid, MPI.ORDER_C
        ).Commit()
        self._open_file = self._open() if case.access == VIEW_WRITE else None

    def close(self) -> None:
        """Close the file, if it is open, and free the datatype."""
        if self._open_file is not None:
            self._open_file.Close()
        self._type.Free()

    def run(self) -> None:
        """Carry out the access once."""
        file = self._open_file if self._open_file is not None else self._open()
        if self._case.view != OFFSET:
            file.Set_view(0, MPI.DOUBLE, self._type)
            if self._case.access == READ:
                file.Read_all(self._received)
            else:
                file.Write_all(self._expected)
        elif self._case.access == READ:
            file.Read_at_all(self._offset, self._received)
        else:
            file.Write_at_all(self._offset, self._expected)
        if self._open_file is None:
            file.Close()

    def is_correct(self, rank: int) -> bool:
        """Return True if this rank has read the expected elements, or on rank 0, if all ranks have written them."""
        if self._case.access == READ:
            return np.array_equal(self._received, self._expected)
        return rank != 0 or np.array_equal(np.fromfile(self._path), self._expected_file.ravel())

    def _open(self) -> MPI.File:
        return MPI.File.Open(self._comm, self._path, MPI.MODE_RDWR | MPI.MODE_CREATE)


class _Ranks(Ranks):
    """The whole job on one rank."""

    def __init__(self, job: UnchangedJob) -> None:
        super().__init__()
        self._job = job

    def run(self) -> None:
        """Run the whole job."""
        self._report_hello()
        for number, case in enumerate(self._job.cases):
            self._measure(number, case, str(Path(self._job.folder) / "file.bin"))

    def _measure(self, number: int, case: UnchangedCase, path: str) -> None:
        accesses = (ListAccesses if case.pieces else SquareAccesses)(case, self._comm, path)
        samples = self._sample(accesses.run)
        accesses.close()
        self._comm.Barrier()
        correct = self._is_true_on_all(accesses.is_correct(self._comm.rank))
        self._report("case", number=number, samples=samples, correct=correct)

    def _sample(self, access: Callable[[], None]) -> list[float]:
        begin = time.monotonic()
        samples: list[float] = []
        for number in range(_WARM + self._job.samples):
            span = self._measure_span(access)
            if number >= _WARM:
                samples.append(span)
            if samples and not self._is_true_on_all(time.monotonic() - begin < self._job.sampling_seconds):
                break
        return samples


if __name__ == "__main__":
    run_job(UnchangedJob.load, _Ranks)
