"""The results of `plait bench io`: measured times, the values computed from them, and their JSON form."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from plait_bench.job import DISK, MPI_IO, PLAIN, TOTAL, Case


@dataclass
class CellResult:
    """The results of one distribution of one case.  All times are in seconds, until the last rank is done."""

    name: str
    layout: str = ""
    samples: dict[str, list[float]] = field(default_factory=dict)
    """Access → one time per round."""
    views: list[float] = field(default_factory=list)
    """Times of MPI-IO's Set_view, which are not part of its samples."""
    timers: dict[str, list[dict[str, float]]] = field(default_factory=dict)
    """Access → for each round, the times of `File.last_times`, averaged over the ranks."""
    surroundings: list[dict[str, Any]] = field(default_factory=list)
    """For each round, other activity of the machine: the fields of `surroundings.Round`."""
    trips: list[float | None] = field(default_factory=list)
    """Seconds in which a word goes from one core to another and back, before and after the rounds."""
    over: dict[str, float] = field(default_factory=dict)
    """Access → the time limit that it exceeded."""
    failed: dict[str, str] = field(default_factory=dict)
    """Access → the error that it ended with."""
    wrong: list[str] = field(default_factory=list)
    """Accesses with wrong data."""
    min_crossing: int = 0
    """Minimum bytes in one direction over the busiest link between hosts, if each rank reads its conforming part."""
    crossed: dict[str, list[int]] = field(default_factory=dict)
    """Access → for each round, the bytes that the busiest link carried in one direction."""

    def median(self, access: str) -> float | None:
        """Return the median of the rounds, or None if the access was not measured."""
        times = self.samples.get(access)
        return statistics.median(times) if times else None

    def timer(self, access: str, name: str) -> float | None:
        """Return the median of a timer over the rounds; `rest` is the time of planning and of agreement among ranks."""
        rounds = self.timers.get(access)
        if not rounds:
            return None
        if name == "rest":
            return statistics.median(times["total"] - times["io"] - times["copy"] - times["wait"] for times in rounds)
        return statistics.median(times[name] for times in rounds)

    @property
    def speed_up(self) -> float | None:
        """MPI-IO's time divided by Plait's; a lower bound if MPI-IO exceeded the limit.  None if any data was wrong."""
        plait_time, mpi_time = self.median(TOTAL), self.median(MPI_IO) or self.over.get(MPI_IO)
        if not plait_time or not mpi_time or MPI_IO in self.wrong or TOTAL in self.wrong:
            return None
        return mpi_time / plait_time


@dataclass
class CaseResult:
    """The results of all distributions of one array, read or written."""

    case: Case
    cells: list[CellResult]
    hosts: int = 1
    """Number of hosts of the ranks."""
    bare: float | None = None
    """Bytes a second that each host sends to the next host by MPI alone, while it receives at the same rate."""

    def link_share(self, cell: CellResult, access: str) -> float | None:
        """Return the rate at which an access transferred the minimum bytes between hosts, relative to MPI's bare rate.

        None if the minimum is 0, or if the access transferred less than half of it, because ranks read their data from
        the file instead.
        """
        time = cell.median(access)
        if (
            not self.bare
            or not time
            or not cell.min_crossing
            or statistics.median(cell.crossed[access]) < cell.min_crossing / 2
        ):
            return None
        return cell.min_crossing / time / self.bare

    @property
    def spread(self) -> float | None:
        """The time of Plait's slowest distribution divided by that of its fastest one."""
        times = [time for cell in self.cells if (time := cell.median(TOTAL))]
        return max(times) / min(times) if times else None

    @property
    def disk(self) -> float | None:
        """Seconds in which one process reads the file from the disk: the faster of PLAIN and DISK; None if cached."""
        times_of_reads = [
            [time for cell in self.cells for time in cell.samples.get(access, [])] for access in (PLAIN, DISK)
        ]
        return min((statistics.median(times) for times in times_of_reads if times), default=None)

    def share_of_disk(self, cell: CellResult) -> float | None:
        """Return Plait's rate divided by the disk's."""
        plait_time = cell.median(TOTAL)
        return self.disk / plait_time if self.disk and plait_time else None

    @property
    def speed_ups(self) -> list[CellResult]:
        """The cells with a speed-up over MPI-IO, the smallest speed-up first."""
        return sorted((cell for cell in self.cells if cell.speed_up), key=lambda cell: cell.speed_up or 0.0)


@dataclass
class IoResults:
    """All results of one run of the benchmark."""

    machine: dict[str, str]
    settings: dict[str, Any]
    cases: list[CaseResult]

    def find_wrong_data(self) -> Iterator[tuple[Case, CellResult, str]]:
        """Yield each access with wrong data."""
        for result in self.cases:
            for cell in result.cells:
                for access in cell.wrong:
                    yield result.case, cell, access

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain lists, dictionaries, texts and numbers."""
        return {
            "machine": self.machine,
            "settings": self.settings,
            "cases": [_case_to_json(result) for result in self.cases],
        }


def _case_to_json(result: CaseResult) -> dict[str, Any]:
    return {
        "operation": result.case.operation,
        "dtype": result.case.dtype,
        "shape": [result.case.extent, result.case.extent],
        "spread": result.spread,
        "disk_seconds": result.disk,
        "hosts": result.hosts,
        "bare_bytes_per_second": result.bare,
        "cells": [
            {
                "name": cell.name,
                "layout": cell.layout,
                "seconds": cell.samples,
                "medians": {access: cell.median(access) for access in cell.samples},
                "mpi_io_set_view_seconds": cell.views,
                "ran_past_seconds": cell.over,
                "timers": cell.timers,
                "surroundings": cell.surroundings,
                "core_round_trip_seconds": cell.trips,
                "failed": cell.failed,
                "wrong": cell.wrong,
                "min_crossing": cell.min_crossing,
                "crossed": cell.crossed,
                "speed_up": cell.speed_up,
                "speed_up_is_lower_bound": MPI_IO in cell.over,
            }
            for cell in result.cells
        ],
    }
