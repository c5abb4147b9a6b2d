"""The driver of `plait bench redistribute`: starts the ranks, aborts cells that take too long, and collects the times.

The bound of a cell is the time in which all ranks at once copy as many bytes as they hold from one local array to
another, by memcpy or with stores past the caches, whichever is faster.  Every redistribution needs at least that: it
reads and writes every byte once.  The bound is measured in the same rounds as all other times.
"""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import plait
from plait.launch import Event, RankProgram, require_mpi
from plait_bench.machine import describe_machine, shorten_library
from plait_bench.redistribute.job import ALLTOALLW, CALL, CELLS, PAST, PLAIN, PRIVATE, SHARED, RedistributeJob
from plait_bench.steps import REPORT_TIMEOUT, Progress, Steps
from plait_bench.trials import Trials

_MODULE = "plait_bench.redistribute.ranks"


@dataclass(frozen=True)
class RedistributeSettings:
    """The parameters of the measurements."""

    size: int = 6000
    """Rows and columns of the array of doubles."""
    ranks: int = 4
    rounds: int = 7
    cut: float = 20.0
    """Seconds after which an MPI_Alltoallw is aborted."""


@dataclass
class RedistributeCell:
    """The results of one redistribution.  All times are in seconds, until the last rank is done."""

    name: str
    layouts: list[str] = field(default_factory=list)
    samples: dict[str, list[float]] = field(default_factory=dict)
    """Method → one time per round."""
    over: float | None = None
    """The time limit, if MPI_Alltoallw exceeded it."""
    wrong: list[str] = field(default_factory=list)
    """Methods with wrong data."""

    def median(self, method: str) -> float | None:
        """Return the median of the rounds, or None if the method was not measured."""
        times = self.samples.get(method)
        return statistics.median(times) if times else None

    @property
    def bound(self) -> float | None:
        """The time of copying the same bytes once."""
        times = [time for method in (PLAIN, PAST) if (time := self.median(method))]
        return min(times, default=None)

    def share(self, method: str = SHARED) -> float | None:
        """Return a method's speed as a fraction of the bound's; None if it was not measured or its data was wrong."""
        bound, time = self.bound, self.median(method)
        return bound / time if bound and time and method not in self.wrong else None

    @property
    def speed_up(self) -> float | None:
        """MPI_Alltoallw's time divided by Plait's; a lower bound if MPI_Alltoallw exceeded the limit."""
        plait_time, other_time = self.median(SHARED), self.median(ALLTOALLW) or self.over
        if not plait_time or not other_time or self.wrong:
            return None
        return other_time / plait_time


@dataclass
class RedistributeResults:
    """All results of one run of the benchmark."""

    machine: dict[str, str]
    settings: dict[str, Any]
    cells: list[RedistributeCell]

    def find_wrong_data(self) -> list[tuple[str, str]]:
        """Return each cell and method with wrong data."""
        return [(cell.name, method) for cell in self.cells for method in cell.wrong]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain lists, dictionaries, texts and numbers."""
        return {"machine": self.machine, "settings": self.settings, "cells": [_to_json(cell) for cell in self.cells]}


def _to_json(cell: RedistributeCell) -> dict[str, Any]:
    return {
        "name": cell.name,
        "source": cell.layouts[0],
        "target": cell.layouts[1],
        "seconds": cell.samples,
        "medians": {method: cell.median(method) for method in cell.samples},
        "bound": cell.bound,
        "share": cell.share(),
        "share_private": cell.share(PRIVATE),
        "share_call": cell.share(CALL),
        "alltoallw_ran_past_seconds": cell.over,
        "speed_up": cell.speed_up,
        "speed_up_is_lower_bound": cell.over is not None,
        "wrong": cell.wrong,
    }


def run_redistribute(
    settings: RedistributeSettings, progress: Progress = lambda text, share: None
) -> RedistributeResults:
    """Measure all cells.

    errors  plait.Error: no MPI, no space, ranks that fail
    """
    require_mpi()
    with tempfile.TemporaryDirectory(prefix="plait-bench-") as name:
        folder = Path(name)
        results = RedistributeResults(
            describe_machine(folder), asdict(settings), [RedistributeCell(cell.name) for cell in CELLS]
        )
        _Run(settings, results, folder, progress).run()
    return results


class _Run:
    """First a trial of MPI_Alltoallw, which may take very long, then the measured rounds."""

    def __init__(
        self, settings: RedistributeSettings, results: RedistributeResults, folder: Path, progress: Progress
    ) -> None:
        self._settings, self._results, self._folder = settings, results, folder
        self._cells = {cell.name: cell for cell in results.cells}
        self._steps = Steps(progress, len(CELLS) * (settings.rounds + 2))

    def run(self) -> None:
        """Fill the results."""
        Trials(
            start=lambda tried: self._start(tried, trial=True),
            find_trial=lambda event: str(event["cell"]),
            describe=lambda name: f"MPI_Alltoallw, {name}",
            record_result=self._record_trial,
            time_limit=self._settings.cut,
        ).run(len(self._cells), self._steps)
        self._measure()

    def _start(self, skip: list[str], *, trial: bool) -> RankProgram:
        """Start ranks that try or measure the cells, without MPI_Alltoallw in the cells of `skip`."""
        rounds = 1 if trial else self._settings.rounds + 1
        limit = (REPORT_TIMEOUT + self._settings.cut) * (len(CELLS) * rounds + 1)
        job = RedistributeJob(self._settings.size, self._settings.rounds, list(self._cells), trial, skip, limit)
        path = self._folder / "job.json"
        job.save(path)
        return RankProgram(self._settings.ranks, _MODULE, [str(path)])

    def _record_trial(self, event: Event | None, name: str) -> None:
        if event is None or event["seconds"] > self._settings.cut:
            self._cells[name].over = self._settings.cut

    def _measure(self) -> None:
        skip = [cell.name for cell in self._cells.values() if cell.over is not None]
        with self._start(skip, trial=False) as ranks:
            for event in ranks.events(REPORT_TIMEOUT + self._settings.cut):
                if event["event"] == "hello":
                    self._results.machine["MPI"] = shorten_library(event["mpi"])
                elif event["event"] == "round":
                    self._steps.complete(f"{event['cell']}, round {event['round'] + 1} of {self._settings.rounds}")
                elif event["event"] == "cell":
                    cell = self._cells[event["cell"]]
                    cell.layouts, cell.samples, cell.wrong = event["layouts"], event["samples"], event["wrong"]
        missing = [cell.name for cell in self._cells.values() if not cell.layouts]
        if missing:
            raise plait.Error(f"the ranks ended before they had measured {', '.join(missing)}")
