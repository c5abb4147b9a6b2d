"""The ranks of `plait bench io`, started by the driver as ``mpiexec -n P python -m plait_bench.io.ranks JOB``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from mpi4py import MPI

import plait
from plait_bench.access import Access
from plait_bench.cells import CONFORMING, Cell, find_cell
from plait_bench.io.between import Hosts
from plait_bench.job import MPI_IO, REDISTRIBUTION, Job
from plait_bench.pattern import pattern
from plait_bench.ranks import Ranks, run_job
from plait_bench.surroundings import Watch, measure_round_trip

_CHUNK = 1 << 24  # bytes of the file written at a time


class _Ranks(Ranks):
    """The whole job on one rank."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job
        self._path = Path(job.path)
        self._dtype = np.dtype(job.case.dtype)
        self._hosts = Hosts(self._comm)

    def run(self) -> None:
        """Run the whole job."""
        self._report_hello()
        self._make_file()
        if not self._job.trial and self._hosts.count > 1:
            self._report("hosts", count=self._hosts.count, bare=self._hosts.measure_bare_rate())
        for name in self._job.cells:
            if self._job.trial:
                self._try_cell(find_cell(name))
            else:
                self._measure_cell(find_cell(name))

    def _make_file(self) -> None:
        """Fill the file with the known pattern, unless it already exists; each rank writes a part of the columns."""
        extent = self._job.case.extent
        size = extent * extent * self._dtype.itemsize
        if self._path.exists() and self._path.stat().st_size == size:
            self._comm.Barrier()
            return
        self._comm.Barrier()
        if self._comm.rank == 0:
            with self._path.open("wb") as file:
                file.truncate(size)
        self._comm.Barrier()
        begin, end = (extent * rank // self._comm.size for rank in (self._comm.rank, self._comm.rank + 1))
        column_bytes = max(1, extent * self._dtype.itemsize)
        block = max(1, _CHUNK // column_bytes)
        rows = np.arange(extent, dtype=np.int64)
        with self._path.open("r+b") as file:
            for first in range(begin, end, block):
                columns = np.arange(first, min(first + block, end), dtype=np.int64)
                file.seek(first * column_bytes)
                file.write(pattern(rows, columns, extent, self._dtype).T.tobytes())
        self._comm.Barrier()

    def _open_accesses(self, cell: Cell, accesses: list[str]) -> Access:
        return Access(self._comm, self._job, cell, accesses)

    def _accesses_of_cell(self, cell: Cell) -> list[str]:
        skipped = {access for name, access in self._job.skip if name == cell.name}
        if cell == CONFORMING:
            skipped.add(REDISTRIBUTION)  # its data already has the conforming layout
        return [access for access in self._job.accesses if access not in skipped]

    def _try_cell(self, cell: Cell) -> None:
        """Measure each access once; report its start and its end to the driver."""
        for access in self._accesses_of_cell(cell):
            try:
                with self._open_accesses(cell, [access]) as files:
                    files.prepare(0)
                    self._report("start", cell=cell.name, access=access)
                    seconds, view_seconds = self._time_access(files, access)
            except (plait.Error, MPI.Exception) as error:
                self._report("failed", cell=cell.name, access=access, text=str(error))
            else:
                self._report("done", cell=cell.name, access=access, seconds=seconds + view_seconds)

    def _measure_cell(self, cell: Cell) -> None:
        """Measure all accesses round by round and check all data.

        Every other round runs them in reverse, so that no access always profits from what another left in the cache.
        """
        accesses = self._accesses_of_cell(cell)
        samples: dict[str, list[float]] = {access: [] for access in accesses}
        views: list[float] = []
        timers: dict[str, list[dict[str, float]]] = {access: [] for access in accesses}
        surroundings = []
        trips = [measure_round_trip(self._comm)]
        crossed: dict[str, list[int]] = {access: [] for access in accesses}
        wrong: set[str] = set()
        with self._open_accesses(cell, accesses) as files:
            for number in range(-1, self._job.rounds):  # round -1 warms up both sides and is not counted
                order = accesses if number % 2 == 0 else accesses[::-1]
                watch = Watch(self._comm)
                for position, access in enumerate(order):
                    files.prepare(1 + (number + 1) * len(accesses) + position)
                    before = self._hosts.count_link_bytes()
                    seconds, view_seconds = self._time_access(files, access)
                    carried = self._hosts.max_carried(before)
                    if not self._is_true_on_all(files.is_correct(access)):
                        wrong.add(access)
                    if number < 0:
                        continue
                    samples[access].append(seconds)
                    crossed[access].append(carried)
                    timers[access] += self._average_timers(files, access)
                    if access == MPI_IO:
                        views.append(view_seconds)
                activity = watch.end()
                if number >= 0:
                    surroundings.append(activity.to_json())
                    self._report("round", cell=cell.name, round=number)
            layout = str(files.layout)
        trips.append(measure_round_trip(self._comm))
        self._report("cell", cell=cell.name, layout=layout, samples=samples, views=views, wrong=sorted(wrong),
                   timers={access: times for access, times in timers.items() if times}, surroundings=surroundings,
                   trips=trips, min_crossing=self._min_crossing(cell), crossed=crossed)  # fmt: skip

    def _min_crossing(self, cell: Cell) -> int:
        """Return the minimum bytes over the busiest link if each rank reads or writes its conforming part."""
        layouts = [each.layout((self._job.case.extent,) * 2, self._comm.size) for each in (CONFORMING, cell)]
        source, target = layouts if self._job.case.operation == "read" else layouts[::-1]
        return self._hosts.min_crossing(source, target, self._dtype.itemsize) if self._hosts.count > 1 else 0

    def _average_timers(self, files: Access, access: str) -> list[dict[str, float]]:
        """Return the times by phase, averaged over the ranks, as a list of one; empty if Plait made no file access."""
        times = files.last_times(access)
        if times is None:
            return []
        all_times = self._comm.allgather(times)
        return [{name: sum(rank_times[name] for rank_times in all_times) / len(all_times) for name in times}]

    def _time_access(self, files: Access, access: str) -> tuple[float, float]:
        """Return the seconds of one access and those of setting the view before it."""
        view_seconds = self._measure_span(files.set_view) if access == MPI_IO else 0.0
        return self._measure_span(lambda: files.run(access)), view_seconds


def main() -> None:
    """Run the job that the command line names."""
    run_job(Job.load, _Ranks)


if __name__ == "__main__":
    main()
