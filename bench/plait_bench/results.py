"""The measured times, the values computed from them, and their JSON form."""

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
    """Access → for each round, the mean times of a rank, by the names of `File.last_times`."""
    surroundings: list[dict[str, Any]] = field(default_factory=list)
    """For each round, other activity of the machine: the fields of `surroundings.Round`."""
    trips: list[float | None] = field(default_factory=list)
    """Seconds of a round trip of a word between two cores, before and after the rounds."""
    over: dict[str, float] = field(default_factory=dict)
    """Access → the limit that it exceeded."""
    failed: dict[str, str] = field(default_factory=dict)
    """Access → the error that it ended with."""
    wrong: list[str] = field(default_factory=list)
    """Accesses that brought wrong data."""
    least: int = 0
    """Bytes that the busiest link between hosts carries one way at least, where each rank reads its conforming part."""
    crossed: dict[str, list[int]] = field(default_factory=dict)
    """Access → for each round, the bytes that the busiest link carried one way."""

    def median(self, access: str) -> float | None:
        """Return the median of the rounds, or None where the access was not measured."""
        times = self.samples.get(access)
        return statistics.median(times) if times else None

    def timer(self, access: str, name: str) -> float | None:
        """Return the median of a timer over the rounds; `rest` is the remaining time: planning and agreements."""
        rounds = self.timers.get(access)
        if not rounds:
            return None
        if name == "rest":
            return statistics.median(one["total"] - one["io"] - one["copy"] - one["wait"] for one in rounds)
        return statistics.median(one[name] for one in rounds)

    @property
    def speed_up(self) -> float | None:
        """MPI-IO's time over Plait's; a lower bound where MPI-IO ran past the limit.  None where its data is wrong."""
        mine, theirs = self.median(TOTAL), self.median(MPI_IO) or self.over.get(MPI_IO)
        if not mine or not theirs or MPI_IO in self.wrong or TOTAL in self.wrong:
            return None
        return theirs / mine


@dataclass
class CaseResult:
    """The results of all distributions of one array, read or written."""

    case: Case
    cells: list[CellResult]
    hosts: int = 1
    """Number of hosts of the ranks."""
    bare: float | None = None
    """Bytes a second that MPI alone sends from each host to the next one, and receives at the same time."""

    def link_share(self, cell: CellResult, access: str) -> float | None:
        """Return the rate of the bytes that an access had to send, relative to the bare rate.

        None if it sent less than half of them, because it read the file again instead, or if there are none.
        """
        time = cell.median(access)
        if not self.bare or not time or not cell.least or statistics.median(cell.crossed[access]) < cell.least / 2:
            return None
        return cell.least / time / self.bare

    @property
    def spread(self) -> float | None:
        """Plait's slowest distribution over its fastest one."""
        times = [time for cell in self.cells if (time := cell.median(TOTAL))]
        return max(times) / min(times) if times else None

    @property
    def disk(self) -> float | None:
        """Seconds in which one process reads the file from the disk by the faster way; None if it is cached."""
        ways = [[time for cell in self.cells for time in cell.samples.get(way, [])] for way in (PLAIN, DISK)]
        return min((statistics.median(times) for times in ways if times), default=None)

    def share_of_disk(self, cell: CellResult) -> float | None:
        """Return Plait's rate over the disk's."""
        mine = cell.median(TOTAL)
        return self.disk / mine if self.disk and mine else None

    @property
    def speed_ups(self) -> list[CellResult]:
        """The cells with a speed-up, the smallest one first."""
        return sorted((cell for cell in self.cells if cell.speed_up), key=lambda cell: cell.speed_up or 0.0)


@dataclass
class IoResults:
    """All results of one run of the benchmark."""

    machine: dict[str, str]
    settings: dict[str, Any]
    cases: list[CaseResult]

    def wrong(self) -> Iterator[tuple[Case, CellResult, str]]:
        """Yield each access that brought wrong data."""
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
                "min_crossing": cell.least,
                "crossed": cell.crossed,
                "speed_up": cell.speed_up,
                "speed_up_is_lower_bound": MPI_IO in cell.over,
            }
            for cell in result.cells
        ],
    }
