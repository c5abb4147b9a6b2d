"""The driver of `plait bench distant`: local and remote disks, as in figures 3 and 4 of the paper on Distant I/O."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import plait
from plait.launch import RankProgram, require_mpi
from plait_bench.distant.job import LOCAL, NEIGHBOUR, Cell, DistantJob
from plait_bench.machine import describe_machine, shorten_library
from plait_bench.steps import REPORT_TIMEOUT, Progress, Steps

_MODULE = "plait_bench.distant.ranks"


@dataclass(frozen=True)
class DistantSettings:
    """The parameters of the measurements."""

    megabytes: int = 64
    """MiB that each measurement of a rate moves."""
    sizes: Sequence[int] = (4096, 8192, 16384, 32768, 65536, 262144, 1048576)
    ahead: Sequence[int] = (1, 8)
    rounds: int = 3
    folders: Sequence[str] = ()
    """The disks of rank 0 and rank 1; by default one temporary folder for both."""


@dataclass
class DistantResults:
    """All results of one run of the benchmark.  Times are in seconds."""

    machine: dict[str, str]
    settings: dict[str, Any]
    rates: dict[Cell, list[float]] = field(default_factory=dict)
    """The time of each round; a round transfers all bytes once."""
    latencies: dict[str, list[float]] = field(default_factory=dict)
    idle: list[float] = field(default_factory=list)
    """The share of a core that each rank uses while it is idle."""
    losses: list[dict[str, dict[str, float]]] = field(default_factory=list)
    """For each round: ``alone``, ``served`` or ``near`` → the seconds of a computation, and those of the service.

    The computing rank is alone, or its disk is read by a rank of another node, or of the same node.
    """

    def rate(self, cell: Cell) -> float:
        """Return bytes per second, by the median of the rounds."""
        return float(self.settings["megabytes"] << 20) / statistics.median(self.rates[cell])

    def share(self, cell: Cell) -> float:
        """Return the rate of a cell divided by the rate of the same accesses to the local file."""
        return self.rate(cell) / self.rate(Cell(LOCAL, cell.kind, cell.size, cell.ahead))

    @property
    def on_one_host(self) -> bool:
        """True if the ranks are on one host, so that accesses without messages were measured as well."""
        return any(cell.where == NEIGHBOUR for cell in self.rates)

    def latency(self, name: str) -> float:
        """Return the median time of a small access."""
        return statistics.median(self.latencies[name])

    def slowdown(self, condition: str) -> float:
        """Return the relative slowdown of a computation under a condition of `losses`."""
        return statistics.median(loss[condition]["seconds"] / loss["alone"]["seconds"] - 1 for loss in self.losses)

    def service(self, condition: str) -> float:
        """Return the processor time of serving requests under a condition, relative to the undisturbed computation."""
        return statistics.median(
            (loss[condition]["service"] - loss["alone"]["service"]) / loss["alone"]["seconds"] for loss in self.losses
        )

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain lists, dictionaries, texts and numbers."""
        return {
            "machine": self.machine,
            "settings": self.settings,
            "rates": [{**asdict(cell), "seconds": samples} for cell, samples in self.rates.items()],
            "latencies": self.latencies,
            "idle": self.idle,
            "losses": self.losses,
        }


def run_distant(settings: DistantSettings, progress: Progress = lambda text, share: None) -> DistantResults:
    """Measure everything.

    errors  plait.Error: no MPI, no space, ranks that fail or read wrong data
    """
    require_mpi()
    with tempfile.TemporaryDirectory(prefix="plait-bench-") as name:
        folder = Path(name)
        disks = list(settings.folders) or [name]
        results = DistantResults(describe_machine(Path(disks[-1])), asdict(settings))
        job = DistantJob(
            disks,
            settings.megabytes << 20,
            list(settings.sizes),
            list(settings.ahead),
            settings.rounds,
            REPORT_TIMEOUT * 20,
        )
        job.save(folder / "job.json")
        steps = Steps(progress, len(job.cells()) + 3)
        with RankProgram(2, _MODULE, [str(folder / "job.json")]) as ranks:
            for event in ranks.events(REPORT_TIMEOUT):
                if event["event"] == "hello":
                    results.machine["MPI"] = shorten_library(event["mpi"])
                elif event["event"] == "cell":
                    cell = Cell(**event["cell"])
                    if event["samples"]:
                        results.rates[cell] = event["samples"]
                    steps.complete(f"{cell.where} {cell.kind}, {cell.size} bytes, {cell.ahead} ahead")
                elif event["event"] == "latency":
                    results.latencies = event["samples"]
                    steps.complete("small accesses")
                elif event["event"] == "idle":
                    results.idle = event["shares"]
                    steps.complete("idle handlers")
                elif event["event"] == "loss":
                    results.losses = event["samples"]
                    steps.complete("a computing server")
    if not results.losses:
        raise plait.Error("the ranks ended before they had measured everything")
    return results
