"""The driver of `plait bench shared`: the bandwidth of Shared Files and of one disk, by the number of hosts."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import plait
from plait.launch import RankProgram, require_mpi
from plait_bench.machine import describe_machine, shorten_library
from plait_bench.shared.job import KINDS, LOCATIONS, SHARED, SharedJob
from plait_bench.steps import REPORT_TIMEOUT, Progress, Steps

_MODULE = "plait_bench.shared.ranks"


@dataclass(frozen=True)
class SharedSettings:
    """The parameters of the measurements."""

    ranks: int = 4
    hosts: Sequence[int] = ()
    """Numbers of hosts; by default 1, 2, 4 … and all hosts of the ranks."""
    megabytes: int = 64
    """MiB that the ranks of each host read or write in a measurement."""
    request: int = 1 << 18
    """Bytes of a request, and of a stripe."""
    ahead: int = 16
    """Number of requests that a rank has in flight at a time."""
    rounds: int = 3
    folder: str | None = None
    """Folder on each host's own disk; by default a temporary one."""


@dataclass
class SharedCell:
    """The measurements of one location of the file on a number of hosts."""

    bytes: int
    """Bytes that all ranks together read or write."""
    seconds: dict[str, list[float]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    """``read`` or ``write`` → one time per round."""

    def rate(self, kind: str) -> float:
        """Return bytes a second of all ranks together, by the median of the rounds."""
        return self.bytes / statistics.median(self.seconds[kind])


@dataclass
class SharedResults:
    """All results of one run of the benchmark.  Times are in seconds."""

    machine: dict[str, str]
    settings: dict[str, Any]
    hosts: list[int] = field(default_factory=list)
    cells: dict[tuple[str, int], SharedCell] = field(default_factory=dict)
    """Location and number of hosts → the measurements."""

    def linear_share(self, hosts: int, kind: str) -> float | None:
        """Return the rate of Shared Files relative to `hosts` times the rate of one host; None if that is unknown."""
        if 1 not in self.hosts:
            return None
        return self.cells[SHARED, hosts].rate(kind) / (hosts * self.cells[SHARED, 1].rate(kind))

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain lists, dictionaries, texts and numbers."""
        return {
            "machine": self.machine,
            "settings": self.settings,
            "hosts": self.hosts,
            "cells": [
                {"way": location, "hosts": hosts, **asdict(cell), "rates": {kind: cell.rate(kind) for kind in KINDS}}
                for (location, hosts), cell in self.cells.items()
            ],
            "linear": {kind: {str(hosts): self.linear_share(hosts, kind) for hosts in self.hosts} for kind in KINDS},
        }


def run_shared(settings: SharedSettings, progress: Progress = lambda text, share: None) -> SharedResults:
    """Measure all numbers of hosts.

    errors  plait.Error: no MPI, no space, fewer hosts than requested, ranks that fail or read wrong data
    """
    if settings.request > settings.megabytes << 20:
        raise plait.ArgumentError(
            f"requests of {settings.request} bytes do not fit into {settings.megabytes} MiB; give smaller ones"
        )
    require_mpi()
    with tempfile.TemporaryDirectory(prefix="plait-bench-") as scratch:
        folder = settings.folder or scratch
        # Only the ranks know the number of hosts; an event reports it.
        job = SharedJob(
            folder,
            list(settings.hosts),
            settings.megabytes << 20,
            settings.request,
            settings.ahead,
            settings.rounds,
            REPORT_TIMEOUT * (settings.rounds + 1) * len(LOCATIONS) * 8,
        )
        path = Path(scratch) / "job.json"
        job.save(path)
        results = SharedResults({}, asdict(settings))
        library = ""
        steps = Steps(progress, 1)
        with RankProgram(settings.ranks, _MODULE, [str(path)]) as ranks:
            for event in ranks.events(REPORT_TIMEOUT):
                if event["event"] == "hello":
                    library = shorten_library(event["mpi"])
                elif event["event"] == "hosts":
                    results.hosts = event["numbers"]
                    steps = Steps(progress, len(results.hosts) * len(LOCATIONS) * settings.rounds)
                elif event["event"] == "cell":
                    location, hosts = event["location"], event["hosts"]
                    cell = results.cells.setdefault((location, hosts), SharedCell(event["bytes"]))
                    for kind in KINDS:
                        cell.seconds[kind].append(event["seconds"][kind])
                    steps.complete(f"{location} on {hosts} hosts")
        results.machine.update(describe_machine(Path(folder)), MPI=library)
    if len(results.cells) < len(results.hosts) * len(LOCATIONS) or not results.hosts:
        raise plait.Error("the ranks ended before they had measured everything")
    return results
