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
from plait_bench.redistribute.job import ALLTOALLW, CALL, PAST, PLAIN, PRIVATE, SHARED, Cell, RedistributeJob, by_name

_POISON = -1.0


class _CellRun:
    """One cell on one rank: its arrays, plan and MPI types, which all rounds use."""

    def __init__(self, comm: MPI.Intracomm, cell: Cell, extent: int, ways: list[str]) -> None:
        self._comm = comm
        self._extent = extent
        self.source, self.target = cell.layouts(extent, comm.size)
        self._cleanup = ExitStack()
        self._plan = self._cleanup.enter_context(plait.Redistribution(self.source, self.target, "f8", comm))
        # All ways but PRIVATE and CALL use the shared arrays, MPI included: to MPI they are ordinary memory.
        self._shared = (self._plan.source, self._plan.target)
        self._private: tuple[npt.NDArray[Any], npt.NDArray[Any]] | None = None
        if PRIVATE in ways:
            pair = [np.empty_like(array) for array in self._shared]
            self._private = pair[0], pair[1]
            self._private[0][...] = 0
        self._called: npt.NDArray[Any] | None = None
        self._types: Alltoallw | None = None
        if ALLTOALLW in ways:
            self._types = Alltoallw(comm, self.source, self.target)
            self._cleanup.callback(self._types.free)
        self._expected = self._values(self.target)
        for array in (self._shared[0], *(self._private[:1] if self._private else ())):
            array[...] = self._values(self.source)

    def _values(self, layout: plait.Layout) -> npt.NDArray[Any]:
        rows, columns = layout.indices(self._comm.rank)
        return rows[:, np.newaxis] * float(self._extent) + columns[np.newaxis, :]

    def prepare(self, way: str, check: bool) -> None:
        """Overwrite the target if the result will be checked, so that old data cannot pass the check."""
        self._called = None
        if check and way != CALL:
            self._arrays(way)[1].fill(_POISON)
        self._comm.Barrier()

    def _arrays(self, way: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        if way in (PRIVATE, CALL):
            assert self._private is not None
            return self._private
        return self._shared

    def run(self, way: str) -> None:
        """Redistribute once, together with all other ranks."""
        source, target = self._arrays(way)
        if way == SHARED:
            self._plan.run()
        elif way == PRIVATE:
            self._plan.run(source, target)
        elif way == CALL:
            self._called = plait.redistribute(source, self.source, self.target, self._comm)
        elif way == ALLTOALLW:
            assert self._types is not None
            self._types.run(source, target)
        else:
            # The bound: copy as many bytes as the rank holds from its source array to its target array.
            size = min(source.size, target.size)
            plait._core.copy_bytes(
                target.__array_interface__["data"][0],
                source.__array_interface__["data"][0],
                size * 8,
                way == PAST,
            )

    def correct(self, way: str) -> bool:
        """Return True if this rank has the expected data in every byte."""
        result = self._called if way == CALL and self._called is not None else self._arrays(way)[1]
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
                self._try_cell(by_name(name))
            else:
                self._measure_cell(by_name(name))

    def _try_cell(self, cell: Cell) -> None:
        if cell.name in self._job.skip:
            return
        with _CellRun(self._comm, cell, self._job.extent, [ALLTOALLW]) as ready:
            ready.prepare(ALLTOALLW, True)
            self._report("start", cell=cell.name)
            seconds = self._measure_span(lambda: ready.run(ALLTOALLW))
            correct = self._is_true_on_all(ready.correct(ALLTOALLW))
        self._report("done", cell=cell.name, seconds=seconds, correct=correct)

    def _measure_cell(self, cell: Cell) -> None:
        """Measure all ways round by round; every other round runs them in reverse."""
        ways = [SHARED, PRIVATE, CALL, PLAIN, PAST, ALLTOALLW]
        if cell.name in self._job.skip:
            ways.remove(ALLTOALLW)
        samples: dict[str, list[float]] = {way: [] for way in ways}
        wrong: set[str] = set()
        with _CellRun(self._comm, cell, self._job.extent, ways) as ready:
            for number in range(-1, self._job.rounds):  # round -1 warms up, is checked and is not counted
                for way in ways if number % 2 == 0 else ways[::-1]:
                    checked = number < 0 and way not in (PLAIN, PAST)
                    ready.prepare(way, checked)
                    seconds = self._measure_span(lambda way=way: ready.run(way))  # type: ignore[misc]
                    if checked and not self._is_true_on_all(ready.correct(way)):
                        wrong.add(way)
                    if number >= 0:
                        samples[way].append(seconds)
                self._report("round", cell=cell.name, round=number)
            layouts = [str(ready.source), str(ready.target)]
        self._report("cell", cell=cell.name, layouts=layouts, samples=samples, wrong=sorted(wrong))


def main() -> None:
    """Run the job that the command line names."""
    run_job(RedistributeJob.load, _Ranks)


if __name__ == "__main__":
    main()
