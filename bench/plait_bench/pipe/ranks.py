"""The ranks of `plait bench pipe`: ``mpiexec -n N+M python -m plait_bench.pipe.ranks JOB``."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

import plait
from plait_bench.pipe.bound import Bound, make_bound
from plait_bench.pipe.job import BOUND, FILE, PIPE, SST, Cell, PipeJob, find_cell, make_grid
from plait_bench.pipe.small import SmallSteps
from plait_bench.pipe.sst import Sst, can_use_sst
from plait_bench.ranks import Ranks, measure_span, run_job

_ELEMENTS = {"f8": MPI.DOUBLE, "u1": MPI.BYTE}


def _create_darray(side_comm: MPI.Intracomm, dist: tuple[str, str], job: PipeJob, ranks: int) -> MPI.Datatype:
    """Return the MPI file type of this rank's part of the array."""
    kinds = {"*": MPI.DISTRIBUTE_NONE, "block": MPI.DISTRIBUTE_BLOCK, "cyclic": MPI.DISTRIBUTE_CYCLIC}
    distributions = [kinds[text.partition("(")[0]] for text in dist]
    sizes = [text.partition("(")[2].rstrip(")") for text in dist]
    arguments = [int(size) if size else MPI.DISTRIBUTE_DFLT_DARG for size in sizes]
    grid = iter(make_grid(dist, ranks))
    across = [1 if text == "*" else next(grid) for text in dist]
    extents = [job.extent, job.extent]
    datatype = _ELEMENTS[job.dtype].Create_darray(
        side_comm.size, side_comm.rank, extents, distributions, arguments, across, order=MPI.ORDER_C
    )
    return datatype.Commit()


class _CellRun:
    """One pair of layouts on one rank, which writes or reads: its array, its end of the pipe and the alternatives."""

    def __init__(self, world: MPI.Intracomm, side_comm: MPI.Intracomm, job: PipeJob, cell: Cell) -> None:
        self._world, self._side_comm, self._job, self._cell = world, side_comm, job, cell.name
        self._writes = world.rank < job.writers
        source, target = cell.layouts(job.extent, job.writers, job.readers)
        self.layout = source if self._writes else target
        self._array: npt.NDArray[Any] = np.empty(
            self.layout.padded_shape(side_comm.rank), job.dtype, order="F" if str(self.layout.order) == "F" else "C"
        )
        self._cleanup = ExitStack()
        name = f"pipe:{cell.name.replace(' ', '-')}"
        mode: Any = "w" if self._writes else "r"
        options: dict[str, Any] = {"shape": source.shape, "dtype": job.dtype} if self._writes else {}
        self.opening = measure_span(world, lambda: self._open(name, mode, options))
        self._bound: Bound | None = None
        if BOUND in job.transfers:
            self._bound = make_bound(world, job.writers, job.extent**2 * np.dtype(job.dtype).itemsize, Path(job.folder))
            self._cleanup.callback(self._bound.free)
        self._sst: Sst | None = None
        if SST in job.transfers and can_use_sst(cell.orders, job.writers, job.readers):
            self._sst = Sst(Path(job.folder), self._array, self._writes)
            self._cleanup.callback(self._sst.close)
        self._path = Path(job.folder) / "through.npy"
        self._expected: npt.NDArray[Any] | None = None
        if self._writes:
            self._array[...] = self._values()
        else:
            self._expected = self._values()

    def possible_transfers(self) -> list[str]:
        """Return the measurements that are possible for this cell."""
        return [transfer for transfer in self._job.transfers if transfer != SST or self._sst is not None]

    def _open(self, name: str, mode: Any, options: dict[str, Any]) -> None:
        self._pipe = self._cleanup.enter_context(plait.open(name, mode, comm=self._side_comm, **options))

    def _values(self) -> npt.NDArray[Any]:
        rows, columns = self.layout.indices(self._side_comm.rank)
        return (rows[:, np.newaxis] * 7.0 + columns[np.newaxis, :]).astype(self._job.dtype)

    def run(self, transfer: str) -> None:
        """Transfer the job's number of steps, or one array through a file."""
        if transfer == PIPE:
            for _ in range(self._job.steps):
                if self._writes:
                    self._pipe.write(self._array, self.layout)
                else:
                    self._pipe.read(self.layout, out=self._array)
        elif transfer == BOUND:
            assert self._bound is not None
            self._bound.run(self._job.steps)
        elif transfer == SST:
            assert self._sst is not None
            self._sst.run(self._job.steps)
        elif transfer == FILE:
            self._through_file()
        else:
            self._through_mpi_io()

    def _through_file(self) -> None:
        if self._writes:
            shape, dtype = self.layout.shape, self._job.dtype
            with plait.open(self._path, "w", comm=self._side_comm, shape=shape, dtype=dtype) as file:
                file.write(self._array, self.layout)
        self._world.Barrier()
        if not self._writes:
            with plait.open(self._path, comm=self._side_comm) as file:
                file.read(self.layout, out=self._array)

    def _through_mpi_io(self) -> None:
        path = str(self._path.with_suffix(".raw"))
        if self._writes:
            self._access(path, MPI.MODE_CREATE | MPI.MODE_WRONLY)
        self._world.Barrier()
        if not self._writes:
            self._access(path, MPI.MODE_RDONLY)

    def _access(self, path: str, mode: int) -> None:
        """Write or read this rank's part of the array by MPI-IO."""
        cell = find_cell(self._cell)
        dist, ranks = (cell.source, self._job.writers) if self._writes else (cell.target, self._job.readers)
        view = _create_darray(self._side_comm, dist, self._job, ranks)
        file: Any = MPI.File.Open(self._side_comm, path, mode)
        element = _ELEMENTS[self._job.dtype]
        file.Set_view(0, element, view)
        # MPI-IO transfers the elements of the view in C order, whatever the local order is.
        contiguous = np.ascontiguousarray(self._array)
        (file.Write_all if self._writes else file.Read_all)([contiguous, contiguous.size, element])
        if not self._writes and contiguous is not self._array:
            np.copyto(self._array, contiguous)
        file.Close()
        view.Free()

    def clear(self) -> None:
        """Overwrite the array that is read into, so that old data cannot pass the check."""
        if not self._writes:
            self._array[...] = 0

    def is_correct(self) -> bool:
        """Return True if this rank has the expected data in every byte, or is a writer."""
        return self._expected is None or bool(np.array_equal(self._array, self._expected))

    def __enter__(self) -> _CellRun:
        return self

    def __exit__(self, *_: object) -> None:
        self._cleanup.close()


class _PipeRanks(Ranks):
    """The whole job on one rank."""

    def __init__(self, job: PipeJob) -> None:
        super().__init__()
        self._job = job
        self._side_comm: Any = self._comm.Split(int(self._comm.rank >= job.writers), self._comm.rank)

    def run(self) -> None:
        """Run the whole job."""
        self._report_hello()
        if self._job.small > 0:
            small = SmallSteps(self._comm, self._side_comm, self._job.writers)
            self._report("small", **small.measure(self._job.small))
        for name in self._job.cells:
            self._measure(find_cell(name))

    def _measure(self, cell: Cell) -> None:
        """Measure all transfers round by round; every other round runs them in reverse."""
        wrong: set[str] = set()
        with _CellRun(self._comm, self._side_comm, self._job, cell) as run:
            transfers = run.possible_transfers()
            samples: dict[str, list[float]] = {transfer: [] for transfer in transfers}
            for number in range(-1, self._job.rounds):  # round -1 warms up, is checked and is not counted
                for transfer in transfers if number % 2 == 0 else transfers[::-1]:
                    checked = number < 0 and transfer != BOUND
                    if checked:
                        run.clear()
                    seconds = self._measure_span(lambda transfer=transfer: run.run(transfer))  # type: ignore[misc]
                    if checked and not self._is_true_on_all(run.is_correct()):
                        wrong.add(transfer)
                    if number >= 0:
                        samples[transfer].append(seconds / (self._job.steps if transfer in (PIPE, BOUND, SST) else 1))
                self._report("round", cell=cell.name, round=number)
        self._report("cell", cell=cell.name, samples=samples, wrong=sorted(wrong), opening=run.opening)


def main() -> None:
    """Run the job that the command line names."""
    run_job(PipeJob.load, _PipeRanks)


if __name__ == "__main__":
    main()
