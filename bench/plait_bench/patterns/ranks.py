"""The ranks of `plait bench patterns`: ``mpiexec -n P python -m plait_bench.patterns.ranks JOB``."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

import plait
from plait.patterns._drive import carry_out, list_accesses
from plait_bench.patterns.content import DTYPE, ReadCheck, covers_each_element_once, fill, has_written_elements
from plait_bench.patterns.job import ELEMENT, Cell, PatternsJob
from plait_bench.ranks import Ranks, run_job


class _CellRun:
    """One cell on one rank: its pattern and stream, which all rounds use."""

    def __init__(self, comm: MPI.Intracomm, cell: Cell, file: plait.File, buffer: npt.NDArray[Any]) -> None:
        self._comm = comm
        self.cell = cell
        self._file = file
        self.pattern = cell.make_pattern()
        self.stream = file.stream(mode=cell.mode)
        self._buffer = buffer
        # Computed in advance, so that the cost of random numbers is not measured.
        self._accesses = list(list_accesses(self.pattern, comm.rank, cell.mode))
        self.samples: list[float] = []
        self.wrong = False
        requests = [self.pattern.requests(rank) for rank in range(comm.size)]
        self.requests = sum(self.pattern.count(rank) for rank in range(comm.size))
        self.moved = ELEMENT * sum(access.count for each in requests for access in each)

    def rewind(self) -> None:
        """Go to the beginning of the file.  Collective.

        In mode 1 all ranks share one position, so that one rank sets it after all ranks have finished.
        """
        if self.cell.mode != 1:
            self.stream.seek(0)
        self._comm.Barrier()
        if self.cell.mode == 1:
            if self._comm.rank == 0:
                self.stream.seek(0)
            self._comm.Barrier()

    def run(self, receive: Any = None, fill: Any = None) -> None:
        """Make all requests of this rank once."""
        carry_out(self._accesses, self.stream, self._buffer, receive, fill)

    def is_correct(self, salt: int) -> bool:
        """Make the requests once and return True if every byte that this rank checks is correct.  Collective."""
        self.rewind()
        if self.cell.kind == "write":
            before = self._read_whole_file()
            self.run(fill=partial(fill, salt))
            after = self._read_whole_file()
            return (
                after is None
                or before is None
                or has_written_elements(self.pattern, self.cell.mode, before, after, salt)
            )
        check = ReadCheck(self.cell.mode == 1)
        self.run(receive=check.receive)
        if self.cell.mode != 1:
            return check.correct
        all_stretches = self._comm.gather(check.stretches)
        if all_stretches is None:
            return check.correct
        return check.correct and covers_each_element_once(
            [stretch for each in all_stretches for stretch in each], self.pattern.elements
        )

    def _read_whole_file(self) -> npt.NDArray[Any] | None:
        """Return all elements of the file on rank 0, None on other ranks.  Collective."""
        self._comm.Barrier()
        elements = None
        if self._comm.rank == 0:
            with plait.open(self._file.url, shape=self._file.shape, dtype=DTYPE) as file:
                elements = file.read()
        self._comm.Barrier()
        return elements


class _Ranks(Ranks):
    """The whole job on one rank."""

    def __init__(self, job: PatternsJob) -> None:
        super().__init__()
        self._job = job

    def run(self) -> None:
        """Check all cells, then measure them round by round; every other round runs them in reverse."""
        self._report_hello()
        # All cells use one array, so that the caches favour none of them.
        buffer = np.zeros(max(cell.make_pattern().largest for cell in self._job.cells), DTYPE)
        with ExitStack() as cleanup:
            files = {name: cleanup.enter_context(self._open(name)) for name in self._file_names()}
            runs = [_CellRun(self._comm, cell, files[cell.file], buffer) for cell in self._job.cells]
            for salt, run in enumerate(runs):
                run.wrong = not self._is_true_on_all(run.is_correct(salt))
                self._report("checked", cell=self._describe(run.cell))
            for number in range(self._job.rounds):
                for run in runs if number % 2 == 0 else runs[::-1]:
                    if sum(run.samples) < self._job.cut:
                        run.rewind()
                        run.samples.append(self._measure_span(run.run))
                self._report("round", round=number)
        for run in runs:
            self._report(
                "cell", cell=vars(run.cell), samples=run.samples, requests=run.requests, moved=run.moved,
                wrong=run.wrong,
            )  # fmt: skip

    def _file_names(self) -> list[str]:
        return sorted({cell.file for cell in self._job.cells})

    def _open(self, name: str) -> plait.File:
        cell = next(cell for cell in self._job.cells if cell.file == name)
        shape, mode = (cell.size // ELEMENT,), "r" if cell.kind == "read" else "r+"
        return plait.open(
            self._job.files[name], mode, comm=self._comm, shape=shape, dtype=DTYPE  # type: ignore[arg-type]
        )  # fmt: skip

    @staticmethod
    def _describe(cell: Cell) -> str:
        return f"{cell.ranks} ranks, {cell.disks} disks: {cell.kind} {cell.pattern}, mode {cell.mode}"


def main() -> None:
    """Run the job that the command line names."""
    run_job(PatternsJob.load, _Ranks)


if __name__ == "__main__":
    main()
