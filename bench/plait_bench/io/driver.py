"""The driver of `plait bench io`: starts the ranks, aborts accesses that take too long, and collects the times."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import plait
from plait.launch import Event, LaunchError, RankProgram, require_mpi
from plait_bench.busy import busy_programs
from plait_bench.cells import CELLS
from plait_bench.job import (
    DIRECT,
    DISK,
    FORTRAN,
    MPI_IO,
    OPTIMAL,
    PLAIN,
    REDISTRIBUTION,
    TOTAL,
    USUAL,
    Case,
    Conditions,
    Job,
    Operation,
)
from plait_bench.machine import describe_machine, shorten_library
from plait_bench.plain_reads import can_read_past_cache
from plait_bench.primitives import fortran_library
from plait_bench.results import CaseResult, CellResult, IoResults
from plait_bench.steps import REPORT_TIMEOUT, Progress, Steps
from plait_bench.trials import Trials

_MODULE = "plait_bench.io.ranks"


@dataclass(frozen=True)
class IoSettings:
    """The parameters of the measurements."""

    doubles: int = 3000
    """Rows and columns of the array of doubles; 0 leaves it out."""
    bytes: int = 5000
    """Rows and columns of the array of bytes; 0 leaves it out."""
    ranks: int = 4
    rounds: int = 5
    cut: float = 5.0
    """Seconds after which an access by MPI-IO, or a direct one, is aborted."""
    operations: tuple[Operation, ...] = ("read",)
    mpiio: bool = True
    fortran: bool = False
    """Measure the Fortran primitives as well."""
    directory: str | None = None
    """Folder of the files; None for a temporary folder."""
    conditions: Conditions = USUAL
    busy: int = 0
    """Number of programs that compute all the time while the ranks run, each on a different core."""

    def cases(self) -> list[Case]:
        """Return the arrays to read and write."""
        sizes = {"float64": self.doubles, "uint8": self.bytes}
        return [
            Case(dtype, extent, operation)
            for operation in self.operations
            for dtype, extent in sizes.items()
            if extent > 0
        ]


def run_io(settings: IoSettings, progress: Progress = lambda text, share: None) -> IoResults:
    """Make all measurements of the settings.

    errors  plait.Error: no MPI, no space, ranks that fail
    """
    require_mpi()
    if settings.fortran:
        fortran_library()
    cases = settings.cases()
    if not cases:
        raise plait.ArgumentError("there is nothing to measure; give a size above 0")
    if settings.conditions.cold and "write" in settings.operations:
        raise plait.ArgumentError("only reading begins with a cold page cache; leave out writing, or the cold cache")
    if settings.directory is not None:
        Path(settings.directory).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="plait-bench-", dir=settings.directory) as name:
        folder = Path(name)
        _check_space(folder, cases)
        machine = describe_machine(folder)
        results = []
        for number, case in enumerate(cases):

            def report_progress(text: str, share: float, case: Case = case, number: int = number) -> None:
                progress(f"{case.title}: {text}", (number + share) / len(cases))

            with busy_programs(settings.busy):
                results.append(_CaseRun(settings, case, folder, machine, report_progress).run())
    return IoResults(machine, asdict(settings), results)


def _check_space(folder: Path, cases: list[Case]) -> None:
    sizes = [case.extent**2 * (8 if case.dtype == "float64" else 1) for case in cases]
    free = shutil.disk_usage(folder).free
    if max(sizes) * 2 > free:
        raise plait.Error(
            f"the files need {2 * max(sizes):,} bytes and {folder} has {free:,} free; choose another --dir"
        )


class _CaseRun:
    """One case: first a trial of accesses that may take very long, then the measured rounds."""

    def __init__(
        self, settings: IoSettings, case: Case, folder: Path, machine: dict[str, str], progress: Progress
    ) -> None:
        self._settings, self._case, self._folder, self._machine = settings, case, folder, machine
        self._data = folder / f"{case.dtype}-{case.operation}.bin"
        self._cells = {cell.name: CellResult(cell.name) for cell in CELLS}
        self._hosts, self._bare = 1, None  # the number of hosts, and the rate of MPI alone between them
        self._steps = Steps(progress, len(CELLS) * (len(self._tried_accesses) + settings.rounds))

    @property
    def _tried_accesses(self) -> list[str]:
        """The accesses that are tried once before the rounds, because they may take very long."""
        return [DIRECT, MPI_IO] if self._settings.mpiio else [DIRECT]

    def run(self) -> CaseResult:
        """Return the result; the file is removed afterwards."""
        try:
            self._trials().run(len(self._cells) * len(self._tried_accesses), self._steps)
            self._measure()
        finally:
            self._data.unlink(missing_ok=True)
        return CaseResult(self._case, list(self._cells.values()), self._hosts, self._bare)

    def _start(self, accesses: list[str], skip: list[tuple[str, str]], limit: float, *, trial: bool) -> RankProgram:
        """Start ranks that measure the accesses, except the pairs of cell and access in `skip`."""
        cells, rounds, conditions = list(self._cells), self._settings.rounds, self._settings.conditions
        job = Job(self._case, str(self._data), cells, rounds, trial, accesses, skip, limit, conditions)
        path = self._folder / "job.json"
        job.save(path)
        return RankProgram(self._settings.ranks, _MODULE, [str(path)])

    def _trials(self) -> Trials[tuple[str, str]]:
        limit = REPORT_TIMEOUT + len(self._cells) * len(self._tried_accesses) * (self._settings.cut + 1)
        return Trials(
            start=lambda tried: self._start(self._tried_accesses, tried, limit, trial=True),
            find_trial=lambda event: (event["cell"], event["access"]),
            describe=", ".join,
            record_result=self._record_trial,
            time_limit=self._settings.cut,
        )

    def _record_trial(self, event: Event | None, trial: tuple[str, str]) -> None:
        name, access = trial
        cell = self._cells[name]
        if event is None or (event["event"] == "done" and event["seconds"] > self._settings.cut):
            cell.over[access] = self._settings.cut
        elif event["event"] == "failed":
            cell.failed[access] = event["text"]

    def _measure(self) -> None:
        skip = [(cell.name, access) for cell in self._cells.values() for access in (*cell.over, *cell.failed)]
        # MPI-IO directly follows the same access by Plait, so that both find the machine in the same state.
        order = [OPTIMAL, REDISTRIBUTION, TOTAL, DIRECT]
        if self._settings.fortran:
            order.insert(3, FORTRAN)
        if self._settings.mpiio:
            order.insert(-1, MPI_IO)
        if self._settings.conditions.cold:
            order[:0] = [PLAIN, DISK] if can_read_past_cache(self._folder / "job.json") else [PLAIN]
        timeout = REPORT_TIMEOUT + 4 * self._settings.cut
        limit = timeout * (len(self._cells) * (self._settings.rounds + 1) + 1)
        with self._start(order, skip, limit, trial=False) as ranks:
            for event in ranks.events(timeout):
                if event["event"] == "hello":
                    self._machine["MPI"] = shorten_library(event["mpi"])
                elif event["event"] == "hosts":
                    self._hosts, self._bare = event["count"], event["bare"]
                elif event["event"] == "round":
                    self._steps.complete(f"{event['cell']}, round {event['round'] + 1} of {self._settings.rounds}")
                elif event["event"] == "cell":
                    cell = self._cells[event["cell"]]
                    cell.layout, cell.views = event["layout"], event["views"]
                    cell.samples, cell.wrong = event["samples"], event["wrong"]
                    cell.min_crossing, cell.crossed = event["min_crossing"], event["crossed"]
                    cell.timers, cell.surroundings, cell.trips = (
                        event["timers"], event["surroundings"], event["trips"],
                    )  # fmt: skip
        missing = [cell.name for cell in self._cells.values() if not cell.layout]
        if missing:
            raise LaunchError(f"the ranks ended before they had measured {', '.join(missing)}")
