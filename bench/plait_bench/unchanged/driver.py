"""The driver of `plait bench mpiio`: runs the same program alternately with Plait and without.

The program calls MPI-IO and is not changed for Plait, which intercepts the calls if the environment names its library.
"""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import plait
from plait.launch import RankProgram, require_mpi
from plait_bench.machine import describe_machine, shorten_library
from plait_bench.steps import REPORT_TIMEOUT, Progress, Steps
from plait_bench.unchanged.job import VIEWS, UnchangedCase, UnchangedJob, make_cases

_MODULE = "plait_bench.unchanged.ranks"
# The libraries that carry out the calls of MPI-IO.
ALONE = "MPI"
PLAIT = "Plait"


@dataclass(frozen=True)
class UnchangedSettings:
    """The parameters of the measurements."""

    ranks: tuple[int, ...] = (1, 2, 4)
    edges: tuple[int, ...] = (16, 128, 512)
    """Rows and columns of the squares of doubles."""
    views: tuple[str, ...] = VIEWS
    pieces: int = 20_000
    """Pieces of each rank in long lists; 0 for no lists."""
    rounds: int = 3
    """Number of runs with Plait, and of runs without."""
    samples: int = 200
    """Maximum number of samples of an access in a run."""
    sampling_seconds: float = 1.0
    """Seconds after which an access gets no more samples in a run."""
    directory: str | None = None


@dataclass
class UnchangedResult:
    """The samples of one case in each run: seconds until the last rank has finished."""

    case: UnchangedCase
    samples: dict[str, list[list[float]]] = field(default_factory=lambda: {ALONE: [], PLAIT: []})
    correct: bool = True

    def median(self, library: str) -> float:
        """Return the median of the medians of all runs."""
        return statistics.median(statistics.median(run) for run in self.samples[library])

    def fast_time(self, library: str) -> float:
        """Return the 10th percentile of a run's samples, as the median over the runs.

        With more ranks than cores, most samples contain waits for a core.
        """
        return statistics.median(sorted(run)[len(run) // 10] for run in self.samples[library])

    def ratio(self) -> float:
        """Return the speed-up: the time with MPI alone divided by the time with Plait, by the fast samples."""
        return self.fast_time(ALONE) / self.fast_time(PLAIT)


@dataclass
class UnchangedResults:
    """All results of one run of the benchmark."""

    machine: dict[str, str]
    settings: dict[str, Any]
    cases: list[UnchangedResult] = field(default_factory=list)

    def find_wrong_data(self) -> list[str]:
        """Return the accesses with wrong data."""
        return [f"{result.case.access}, {result.case.view}" for result in self.cases if not result.correct]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain lists, dictionaries, texts and numbers."""
        cases = [
            {**asdict(result.case), "seconds": result.samples, "ratio": result.ratio(), "correct": result.correct}
            | {"median": {library: result.median(library) for library in result.samples}}
            | {"fast": {library: result.fast_time(library) for library in result.samples}}
            for result in self.cases
        ]
        return {"machine": self.machine, "settings": self.settings, "cases": cases}


def run_unchanged(settings: UnchangedSettings, progress: Progress = lambda text, share: None) -> UnchangedResults:
    """Measure all cases.

    errors  plait.Error: no MPI, no Plait library for this MPI, no space, ranks that fail
    """
    from plait.cli.mpiio import make_variables

    require_mpi()
    variables = {ALONE: {}, PLAIT: make_variables()}
    steps = Steps(progress, len(settings.ranks) * settings.rounds * len(variables))
    with tempfile.TemporaryDirectory(prefix="plait-bench-", dir=settings.directory) as folder:
        results = UnchangedResults(describe_machine(Path(folder)), asdict(settings))
        for ranks in settings.ranks:
            cases = make_cases(ranks, settings.edges, settings.views, pieces=settings.pieces)
            case_results = [UnchangedResult(case) for case in cases]
            results.cases += case_results
            limit = REPORT_TIMEOUT + 4 * settings.sampling_seconds * len(cases)
            job = UnchangedJob(cases, folder, settings.samples, settings.sampling_seconds, limit)
            for number in range(settings.rounds):
                libraries = list(variables) if number % 2 == 0 else list(reversed(variables))
                for library in libraries:
                    results.machine["MPI"] = _run_once(case_results, library, variables[library], job)
                    steps.complete(f"{ranks} ranks, {library}, run {number + 1}")
    return results


def _run_once(results: list[UnchangedResult], library: str, variables: dict[str, str], job: UnchangedJob) -> str:
    """Run the program once with `variables` in its environment, and add its samples to the results.

    Returns the version of the MPI library.
    """
    job.save(Path(job.folder) / "job.json")
    measured, version = 0, ""
    with RankProgram(results[0].case.ranks, _MODULE, [str(Path(job.folder) / "job.json")], variables) as program:
        for event in program.events(job.limit):
            if event["event"] == "hello":
                version = shorten_library(event["mpi"])
            elif event["event"] == "case":
                result = results[event["number"]]
                result.samples[library].append(event["samples"])
                result.correct = result.correct and event["correct"]
                measured += 1
    if measured < len(results):
        raise plait.Error(f"the ranks ended before they had measured {results[measured].case.view}")
    return version
