"""The driver of `plait bench columbus`: a small version of the program in section 5 of the paper on Distant I/O.

The program is COLUMBUS, a program of quantum chemistry: its ranks update compressed records in any order, and a record
changes its size with each update. The benchmark stores the records in two locations in turn, as Shared Files and in one
ordinary file, and compares the rates.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import plait
from plait.launch import RankProgram, require_mpi
from plait_bench.columbus.job import LOCATIONS, ColumbusJob
from plait_bench.machine import describe_machine, shorten_library
from plait_bench.steps import REPORT_TIMEOUT, Progress, Steps

_MODULE = "plait_bench.columbus.ranks"


@dataclass(frozen=True)
class ColumbusSettings:
    """The parameters of the measurements."""

    ranks: int = field(default_factory=lambda: min(4, os.cpu_count() or 1))
    """Number of ranks. If ranks share a core, they wait for each other's computation, which counts as access time."""
    records: int = 2000
    size: int = 30_000
    """Mean bytes of a record; the default is the value of the paper."""
    memory: int = 16
    """MiB of the page cache that the records may use on a node."""
    rounds: int = 3
    folder: str | None = None
    """Folder of the records: on each rank's own disk, or shared by all ranks; by default a temporary folder."""


@dataclass
class ColumbusLocation:
    """The results of one location of the records."""

    description: str
    """A description of the location."""
    bytes: int
    """Bytes of all records at the start."""
    rounds: list[dict[str, float]] = field(default_factory=list)
    """The times of each round, summed over the ranks."""
    updates: int = 0
    """Number of updates, as recorded in the records at the end."""

    def median(self, name: str) -> float:
        """Return the median of the rounds."""
        return statistics.median(round_[name] for round_ in self.rounds)

    def rate(self, kind: str) -> float:
        """Return the bytes a second of one rank, for ``read`` or ``write``: bytes over time spent, as in the paper."""
        return self._median(lambda round_: round_[f"{kind}_bytes"] / round_[f"{kind}_seconds"])

    @property
    def request(self) -> float:
        """Mean bytes of a read."""
        return self._median(lambda round_: round_["read_bytes"] / round_["requests"])

    @property
    def from_disk(self) -> float:
        """Bytes that devices transferred per byte that was read: whole pages, including those that writes change."""
        return self._median(lambda round_: round_["from_disk"] / round_["read_bytes"])

    def _median(self, value: Callable[[dict[str, float]], float]) -> float:
        return statistics.median(map(value, self.rounds))


@dataclass
class ColumbusResults:
    """All results of one run of the benchmark."""

    machine: dict[str, str]
    settings: dict[str, Any]
    locations: dict[str, ColumbusLocation] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain lists, dictionaries, texts and numbers."""
        locations = {
            name: asdict(location) | {"read_rate": location.rate("read"), "write_rate": location.rate("write")}
            for name, location in self.locations.items()
        }
        return {"machine": self.machine, "settings": self.settings, "ways": locations}


def run_columbus(settings: ColumbusSettings, progress: Progress = lambda text, share: None) -> ColumbusResults:
    """Measure both locations.

    errors  plait.Error: no MPI, no space, ranks that fail or find a wrong record
    """
    require_mpi()
    with tempfile.TemporaryDirectory(prefix="plait-bench-") as scratch:
        folder = settings.folder or scratch
        job = ColumbusJob(
            scratch, folder, settings.records, settings.size, settings.memory << 20, settings.rounds,
            REPORT_TIMEOUT * (settings.rounds + 4) * len(LOCATIONS),
        )  # fmt: skip
        path = Path(scratch) / "job.json"
        job.save(path)
        steps = Steps(progress, len(LOCATIONS) * (settings.rounds + 2))
        with RankProgram(settings.ranks, _MODULE, [str(path)]) as ranks:
            # The folder exists when the ranks have started.
            results = ColumbusResults({}, asdict(settings))
            library = ""
            for event in ranks.events(REPORT_TIMEOUT):
                location = event.pop("location", None)
                if event["event"] == "hello":
                    library = shorten_library(event["mpi"])
                elif event["event"] == "filled":
                    results.locations[location] = ColumbusLocation(event["description"], event["bytes"])
                    steps.complete(f"{location}: records written")
                elif event["event"] == "round":
                    results.locations[location].rounds.append({name: event[name] for name in event if name != "event"})
                    steps.complete(f"{location}: round {len(results.locations[location].rounds)} of {settings.rounds}")
                elif event["event"] == "checked":
                    results.locations[location].updates = event["updates"]
                    steps.complete(f"{location}: records checked")
        results.machine.update(describe_machine(Path(folder)), MPI=library)
    if not all(location.updates for location in results.locations.values()) or len(results.locations) < len(LOCATIONS):
        raise plait.Error("the ranks ended before they had measured everything")
    return results
