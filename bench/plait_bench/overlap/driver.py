"""The driver of `plait bench overlap`: how much of an access a computation hides."""

from __future__ import annotations

import os
import statistics
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import plait
from plait.launch import RankProgram, require_mpi
from plait_bench.machine import describe_machine, shorten_library
from plait_bench.overlap.job import ACCESSES, BOTH, COMPUTE, IO, OverlapJob
from plait_bench.steps import REPORT_TIMEOUT, Progress, Steps

_MODULE = "plait_bench.overlap.ranks"


@dataclass(frozen=True)
class OverlapSettings:
    """The parameters of the measurements."""

    megabytes: int = 256
    """Size of the file in MiB."""
    ranks: int = field(default_factory=lambda: max(1, (os.cpu_count() or 2) // 2))
    """Number of MPI processes: each computes on one core, and its accesses need a part of another one."""
    rounds: int = 7
    folder: str | None = None
    """Folder of the file; by default the system's folder for temporary files."""


@dataclass
class OverlapResult:
    """The result of one access.  All times are in seconds, until the last rank is done."""

    name: str
    samples: dict[str, list[float]] = field(default_factory=dict)
    """``io``, ``compute`` or ``both`` → one time per round."""
    wrong: bool = False

    def median(self, measurement: str) -> float:
        """Return the median of the rounds."""
        return statistics.median(self.samples[measurement])

    @property
    def overlap(self) -> float:
        """The overlapped share of the shorter of access and computation: 1 if the longer one hides it completely."""
        io, compute, both = (self.median(measurement) for measurement in (IO, COMPUTE, BOTH))
        return (io + compute - both) / min(io, compute)


@dataclass
class OverlapResults:
    """All results of one run of the benchmark."""

    machine: dict[str, str]
    settings: dict[str, Any]
    accesses: list[OverlapResult]

    def find_wrong_data(self) -> list[str]:
        """Return the names of accesses with wrong data."""
        return [access.name for access in self.accesses if access.wrong]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain lists, dictionaries, texts and numbers."""
        return {
            "machine": self.machine,
            "settings": self.settings,
            "accesses": [
                {"name": access.name, "seconds": access.samples, "overlap": access.overlap, "wrong": access.wrong}
                for access in self.accesses
            ],
        }


def run_overlap(settings: OverlapSettings, progress: Progress = lambda text, share: None) -> OverlapResults:
    """Measure all accesses.

    errors  plait.Error: no MPI, no space, ranks that fail
    """
    require_mpi()
    with tempfile.TemporaryDirectory(prefix="plait-bench-", dir=settings.folder) as name:
        folder = Path(name)
        results = OverlapResults(describe_machine(folder), asdict(settings), [])
        job = OverlapJob(
            str(folder / "overlap.bin"),
            settings.megabytes << 20,
            settings.rounds,
            REPORT_TIMEOUT * (settings.rounds + 4) * 4,
        )
        job.save(folder / "job.json")
        steps = Steps(progress, len(ACCESSES) * settings.rounds)
        with RankProgram(settings.ranks, _MODULE, [str(folder / "job.json")]) as ranks:
            for event in ranks.events(REPORT_TIMEOUT):
                if event["event"] == "hello":
                    results.machine["MPI"] = shorten_library(event["mpi"])
                elif event["event"] == "round":
                    steps.complete(f"{event['access']}, round {event['round'] + 1} of {settings.rounds}")
                elif event["event"] == "access":
                    results.accesses.append(OverlapResult(event["access"], event["samples"], event["wrong"]))
    if len(results.accesses) < len(ACCESSES):
        raise plait.Error("the ranks ended before they had measured everything")
    return results
