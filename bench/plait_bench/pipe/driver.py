"""The driver of `plait bench pipe`: starts writers and readers as ranks of one job, and collects the times.

The bound of a cell is the time in which the same bytes go from the writers to the readers in equal, contiguous
stretches: each writer copies its stretch into shared memory, each reader copies its stretch out of it, alternating
between two slots.  If the ranks are on several hosts, one TCP stream carries all bytes.  The bound is measured in the
same rounds as all other times.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import plait
from plait.launch import RankProgram, require_mpi
from plait_bench.machine import describe_machine, shorten_library
from plait_bench.pipe.job import BOUND, CELLS, FILE, MPI_IO, PIPE, SIDES, SST, PipeJob, find_cell
from plait_bench.pipe.sst import has_sst
from plait_bench.steps import REPORT_TIMEOUT, Progress, Steps

_MODULE = "plait_bench.pipe.ranks"


@dataclass(frozen=True)
class PipeSettings:
    """The parameters of the measurements."""

    size: int = 3000
    """Rows and columns of the array."""
    dtype: str = "f8"
    sides: tuple[tuple[int, int], ...] = SIDES
    rounds: int = 5
    steps: int = 8
    """Steps of one measurement, one after the other without a pause."""
    small: int = 1000
    """Round trips of small steps; 0: small steps are not measured."""
    files: bool = True
    """True to measure the same transfer through a file as well."""
    sst: bool = True
    """True to measure ADIOS2's SST as well if it is installed."""

    @property
    def bytes(self) -> int:
        """Bytes of one step."""
        return self.size**2 * np.dtype(self.dtype).itemsize


@dataclass
class PipeCell:
    """One pair of layouts with its numbers of ranks.  Times are in seconds per step."""

    name: str
    writers: int
    readers: int
    bytes: int
    samples: dict[str, list[float]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    opening: float = 0.0
    """Seconds from the first rank's call that opens the pipe until the last rank's call has returned."""

    def median(self, transfer: str = PIPE) -> float | None:
        """Return the median of the rounds, or None if the transfer was not measured."""
        times = self.samples.get(transfer)
        return statistics.median(times) if times else None

    def over_bound(self) -> float | None:
        """Return the pipe's time divided by the bound's."""
        bound, time = self.median(BOUND), self.median()
        return time / bound if bound and time else None

    @property
    def rate(self) -> float | None:
        """Bytes per second of all ranks together."""
        time = self.median()
        return self.bytes / time if time else None

    @property
    def share(self) -> float | None:
        """The pipe's speed as a fraction of the bound's; None if it was not measured or its data was wrong."""
        over = self.over_bound()
        return 1 / over if over and PIPE not in self.wrong else None


@dataclass
class SmallStepTimes:
    """Steps of 4 KiB per rank between the given numbers of ranks.  Times are in seconds."""

    writers: int
    readers: int
    halves: list[float]
    """Half of a round trip through two pipes."""
    paused: list[float]
    """Times from the beginning of a write to the end of the read, with a pause of a millisecond before each write."""


@dataclass
class PipeResults:
    """All results of one run of the benchmark."""

    machine: dict[str, str]
    settings: dict[str, Any]
    cells: list[PipeCell] = field(default_factory=list)
    small: list[SmallStepTimes] = field(default_factory=list)

    def openings(self, writers: int, readers: int) -> list[float]:
        """Return the times of opening each pipe between the given numbers of ranks."""
        return [cell.opening for cell in self.cells if (cell.writers, cell.readers) == (writers, readers)]

    def find_wrong_data(self) -> list[tuple[str, str]]:
        """Return each cell and transfer with wrong data."""
        return [
            (f"{cell.name}, {cell.writers} to {cell.readers}", transfer)
            for cell in self.cells
            for transfer in cell.wrong
        ]

    def over_equal(self, cell: PipeCell) -> float | None:
        """Return a cell's time divided by the shortest time of cells with equal layouts and the same numbers of ranks.

        Each time is relative to the bound of its cell, which was measured in the same rounds: cells are measured
        minutes apart, and the speed of a shared machine drifts.
        """
        equal_cells = [
            other.over_bound()
            for other in self.cells
            if (other.writers, other.readers) == (cell.writers, cell.readers)
            and find_cell(other.name).has_equal_layouts
        ]
        times = [time for time in equal_cells if time]
        over_bound = cell.over_bound()
        return over_bound / min(times) if over_bound and times else None

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain lists, dictionaries, texts and numbers."""
        cells = [
            {
                **asdict(cell),
                "medians": {transfer: cell.median(transfer) for transfer in cell.samples},
                "bytes_per_second": cell.rate,
                "share_of_bound": cell.share,
                "over_equal_layouts": self.over_equal(cell),
            }
            for cell in self.cells
        ]
        small = [asdict(times) for times in self.small]
        return {"machine": self.machine, "settings": self.settings, "cells": cells, "small": small}


def run_pipe(settings: PipeSettings, progress: Progress = lambda text, share: None) -> PipeResults:
    """Measure all cells.

    errors  plait.Error: no MPI, no space, ranks that fail
    """
    require_mpi()
    transfers = [
        PIPE,
        BOUND,
        *([FILE, MPI_IO] if settings.files else []),
        *([SST] if settings.sst and has_sst() else []),
    ]
    steps = Steps(progress, len(settings.sides) * len(CELLS) * (settings.rounds + 1))
    with tempfile.TemporaryDirectory(prefix="plait-bench-") as name:
        folder = Path(name)
        (folder / "meet").mkdir(mode=0o700)
        results = PipeResults(describe_machine(folder), asdict(settings))
        for writers, readers in settings.sides:
            limit = REPORT_TIMEOUT * len(CELLS)
            job = PipeJob(
                settings.size, settings.dtype, writers, readers, settings.rounds, settings.steps,
                settings.small, [cell.name for cell in CELLS], transfers, str(folder), limit,
            )  # fmt: skip
            job.save(folder / "job.json")
            _measure(job, folder, results, steps)
    return results


def _measure(job: PipeJob, folder: Path, results: PipeResults, steps: Steps) -> None:
    environment = dict(os.environ)
    os.environ["PLAIT_MEET"] = str(folder / "meet")
    size = job.extent**2 * np.dtype(job.dtype).itemsize
    try:
        with RankProgram(job.writers + job.readers, _MODULE, [str(folder / "job.json")]) as ranks:
            for event in ranks.events(REPORT_TIMEOUT):
                if event["event"] == "hello":
                    results.machine["MPI"] = shorten_library(event["mpi"])
                elif event["event"] == "round":
                    steps.complete(f"{job.writers} to {job.readers}, {event['cell']}, round {event['round'] + 1}")
                elif event["event"] == "small":
                    results.small.append(SmallStepTimes(job.writers, job.readers, event["halves"], event["paused"]))
                elif event["event"] == "cell":
                    results.cells.append(
                        PipeCell(
                            event["cell"],
                            job.writers,
                            job.readers,
                            size,
                            event["samples"],
                            event["wrong"],
                            event["opening"],
                        )
                    )
    finally:
        os.environ.clear()
        os.environ.update(environment)
    if sum((cell.writers, cell.readers) == (job.writers, job.readers) for cell in results.cells) < len(job.cells):
        raise plait.Error(f"the ranks ended before they had measured all from {job.writers} to {job.readers}")
