"""The driver of `plait bench blocks`: blocks of arrays of several dimensions, by Plait and by MPI-IO."""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import plait
from plait.launch import RankProgram, require_mpi
from plait_bench.blocks.job import MPI_IO, PLAIT, Blocks, BlocksJob, make_arrays
from plait_bench.machine import describe_machine, shorten_library
from plait_bench.steps import REPORT_TIMEOUT, Progress, Steps

_MODULE = "plait_bench.blocks.ranks"


@dataclass(frozen=True)
class BlocksSettings:
    """The parameters of the measurements."""

    megabytes: int = 64
    """Size of each array, in MiB."""
    ranks: int = 4
    rounds: int = 7
    folder: str | None = None
    """Folder of the file; by default the system's folder for temporary files."""


@dataclass
class BlocksResult:
    """The result of one array, with or without gaps between the rows of local arrays.

    Times are in seconds, until the last rank is done.
    """

    blocks: Blocks
    gaps: bool
    samples: dict[str, list[float]]
    """``read plait``, ``write mpi-io`` and so on → one time per round."""
    wrong: list[str]

    def median(self, operation: str, library: str) -> float:
        """Return the median of the rounds."""
        return statistics.median(self.samples[f"{operation} {library}"])

    def speed_up(self, operation: str) -> float:
        """Return the time of MPI-IO divided by that of Plait."""
        return self.median(operation, MPI_IO) / self.median(operation, PLAIT)


@dataclass
class BlocksResults:
    """All results of one run of the benchmark."""

    machine: dict[str, str]
    settings: dict[str, Any]
    cases: list[BlocksResult]

    def find_wrong_data(self) -> list[str]:
        """Return a description of each access with wrong data."""
        return [f"{result.blocks.name}, {access}" for result in self.cases for access in result.wrong]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain lists, dictionaries, texts and numbers."""
        ranks = self.settings["ranks"]
        return {
            "machine": self.machine,
            "settings": self.settings,
            "cases": [
                {
                    "shape": result.blocks.shape,
                    "grid": result.blocks.grid(ranks),
                    "run_bytes": result.blocks.run_bytes(ranks),
                    "gaps": result.gaps,
                    "seconds": result.samples,
                    "wrong": result.wrong,
                }
                for result in self.cases
            ],
        }


def run_blocks(settings: BlocksSettings, progress: Progress = lambda text, share: None) -> BlocksResults:
    """Measure all cases.

    errors  plait.Error: no MPI, no space, ranks that fail
    """
    require_mpi()
    arrays = make_arrays(settings.megabytes)
    with tempfile.TemporaryDirectory(prefix="plait-bench-", dir=settings.folder) as name:
        folder = Path(name)
        results = BlocksResults(describe_machine(folder), asdict(settings), [])
        limit = REPORT_TIMEOUT * (settings.rounds + 4) * len(arrays) * 2
        job = BlocksJob(str(folder / "blocks.bin"), [blocks.shape for blocks in arrays], settings.rounds, limit)
        job.save(folder / "job.json")
        steps = Steps(progress, len(arrays) * 2 * (settings.rounds + 1))
        with RankProgram(settings.ranks, _MODULE, [str(folder / "job.json")]) as ranks:
            for event in ranks.events(REPORT_TIMEOUT):
                if event["event"] == "hello":
                    results.machine["MPI"] = shorten_library(event["mpi"])
                elif event["event"] == "round":
                    steps.complete(f"{arrays[event['case']].name}, round {event['round'] + 1} of {settings.rounds}")
                elif event["event"] == "case":
                    result = BlocksResult(arrays[event["case"]], event["gaps"], event["samples"], event["wrong"])
                    results.cases.append(result)
    if len(results.cases) < 2 * len(arrays):
        raise plait.Error("the ranks ended before they had measured everything")
    return results
