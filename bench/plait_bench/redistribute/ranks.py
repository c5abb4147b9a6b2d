"""The ranks of `plait bench redistribute`: ``mpiexec -n P python -m plait_bench.redistribute.ranks JOB``."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

import plait
from plait_bench.alltoallw import Alltoallw
from plait_bench.ranks import Ranks, run_job
from plait_bench.redistribute.job import (
    ALLTOALLW,
    CALL,
    METHODS,
    PAST,
    PLAIN,
    PRIVATE,
    SHARED,
    Cell,
    RedistributeJob,
    find_cell,
)

_POISON = -1.0  # the value that fills target arrays before checked runs


class _CellRun:
    """One cell on one rank: its arrays, plan and MPI types, which all rounds use."""

    def __init__(self, comm: MPI.Intracomm, cell: Cell, extent: int, methods: list[str]) -> None:
        self._comm = comm
        self._extent = extent
        self.source, self.target = cell.layouts(extent, comm.size)
        self._cleanup = ExitStack()
        self._plan = self._cleanup.enter_context(plait.Redistribution(self.source, self.target, "f8", comm))
        # All methods but PRIVATE and CALL use the shared arrays, MPI included: to MPI they are ordinary memory.
        self._shared = (self._plan.source, self._plan.target)
        self._private: tuple[npt.NDArray[Any], npt.NDArray[Any]] | None = None
        if PRIVATE in methods:
            pair = [np.empty_like(array) for array in self._shared]
            self._private = pair[0], pair[1]
            self._private[0][...] = 0
        self._call_result: npt.NDArray[Any] | None = None
        self._types: Alltoallw | None = None
        if ALLTOALLW in methods:
            self._types = Alltoallw(comm, self.source, self.target)
            self._cleanup.callback(self._types.free)
        self._expected = self._values(self.target)
        for array in (self._shared[0], *(self._private[:1] if self._private else ())):
            array[...] = self._values(self.source)

    def _values(self, layout: plait.Layout) -> npt.NDArray[Any]:
        rows, columns = layout.indices(self._comm.rank)
        return rows[:, np.newaxis] * float(self._extent) + columns[np.newaxis, :]

    def prepare(self, method: str, *, check: bool) -> None:
        """Overwrite the target if the result will be checked, so that old data cannot pass the check."""
        self._call_result = None
        if check and method != CALL:
            self._arrays(method)[1].fill(_POISON)
        self._comm.Barrier()

    def _arrays(self, method: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        if method in (PRIVATE, CALL):
            assert self._private is not None
            return self._private
        return self._shared

    def run(self, method: str) -> None:
        """Redistribute once, together with all other ranks."""
        source, target = self._arrays(method)
        if method == SHARED:
            self._plan.run()
        elif method == PRIVATE:
            self._plan.run(source, target)
        elif method == CALL:
            self._call_result = plait.redistribute(source, self.source, self.target, self._comm)
        elif method == ALLTOALLW:
            assert self._types is not None
            self._types.run(source, target)
        else:
            # The bound: copy as many bytes as the rank holds from its source array to its target array.
            size = min(source.size, target.size)
            plait._core.copy_bytes(
                target.__array_interface__["data"][0],
                source.__array_interface__["data"][0],
                size * 8,
                method == PAST,
            )

    def is_correct(self, method: str) -> bool:
        """Return True if this rank has the expected data in every byte."""
        result = self._call_result if method == CALL and self._call_result is not None else self._arrays(method)[1]
        return bool(np.array_equal(result.view(np.uint64), np.asarray(self._expected).view(np.uint64)))

    def __enter__(self) -> _CellRun:
        return self

    def __exit__(self, *_: object) -> None:
        self._cleanup.close()


class _Ranks(Ranks):
    """The whole job on one rank."""

    def __init__(self, job: RedistributeJob) -> None:
        super().__init__()
        self._job = job

    def run(self) -> None:
        """Run the whole job."""
        self._report_hello()
        for name in self._job.cells:
            if self._job.trial:
                self._try_cell(find_cell(name))
            else:
                self._measure_cell(find_cell(name))

    def _try_cell(self, cell: Cell) -> None:
        """Run MPI_Alltoallw once; report the start and the end to the driver, which aborts it if it takes too long."""
        if cell.name in self._job.skip:
            return
        with _CellRun(self._comm, cell, self._job.extent, [ALLTOALLW]) as cell_run:
            cell_run.prepare(ALLTOALLW, check=True)
            self._report("start", cell=cell.name)
            seconds = self._measure_span(lambda: cell_run.run(ALLTOALLW))
            correct = self._is_true_on_all(cell_run.is_correct(ALLTOALLW))
        self._report("done", cell=cell.name, seconds=seconds, correct=correct)

    def _measure_cell(self, cell: Cell) -> None:
        """Measure all methods round by round; every other round runs them in reverse."""
        methods = list(METHODS)
        if cell.name in self._job.skip:
            methods.remove(ALLTOALLW)
        samples: dict[str, list[float]] = {method: [] for method in methods}
        wrong: set[str] = set()
        with _CellRun(self._comm, cell, self._job.extent, methods) as cell_run:
            for number in range(-1, self._job.rounds):  # round -1 warms up, is checked and is not counted
                for method in methods if number % 2 == 0 else methods[::-1]:
                    checked = number < 0 and method not in (PLAIN, PAST)
                    cell_run.prepare(method, check=checked)
                    seconds = self._measure_span(lambda method=method: cell_run.run(method))  # type: ignore[misc]
                    if checked and not self._is_true_on_all(cell_run.is_correct(method)):
                        wrong.add(method)
                    if number >= 0:
                        samples[method].append(seconds)
                self._report("round", cell=cell.name, round=number)
            layouts = [str(cell_run.source), str(cell_run.target)]
        self._report("cell", cell=cell.name, layouts=layouts, samples=samples, wrong=sorted(wrong))


def main() -> None:
    """Run the job that the command line names."""
    run_job(RedistributeJob.load, _Ranks)


if __name__ == "__main__":
    main()
