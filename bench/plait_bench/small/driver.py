"""The driver of `plait bench small`: starts the rank program once for each number of ranks."""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import plait
from plait.launch import RankProgram, require_mpi
from plait_bench.machine import describe_machine, shorten_library
from plait_bench.small.job import PLAIT, SmallCase, SmallJob, make_cases
from plait_bench.steps import REPORT_TIMEOUT, Progress, Steps

_MODULE = "plait_bench.small.ranks"


@dataclass(frozen=True)
class SmallSettings:
    """The parameters of the measurements."""

    ranks: tuple[int, ...] = (1, 2, 4)
    edges: tuple[int, ...] = (16, 100, 300, 1000, 3000)
    """Rows and columns of the squares of doubles."""
    rounds: int = 25
    sampling_seconds: float = 10.0
    """Seconds after which a case gets no more rounds."""
    directory: str | None = None


@dataclass
class SmallResult:
    """The result of one case: the samples of each method, in seconds until the last rank is done."""

    case: SmallCase
    samples: dict[str, list[float]]
    wrong: list[str] = field(default_factory=list)

    def median(self, method: str) -> float:
        """Return the median of a method."""
        return statistics.median(self.samples[method])

    def ratio(self, method: str) -> float:
        """Return Plait's time divided by another method's time in the same round: the median over the rounds."""
        pairs = zip(self.samples[PLAIT], self.samples[method], strict=True)
        return statistics.median(plait_seconds / other_seconds for plait_seconds, other_seconds in pairs)


@dataclass
class SmallResults:
    """All results of one run of the benchmark."""

    machine: dict[str, str]
    settings: dict[str, Any]
    cases: list[SmallResult] = field(default_factory=list)

    def find_wrong_data(self) -> list[str]:
        """Return the accesses with wrong data."""
        return [
            f"{method}, {result.case.access} of {result.case.layout}"
            for result in self.cases
            for method in result.wrong
        ]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain lists, dictionaries, texts and numbers."""
        cases = [
            {
                **asdict(result.case),
                "seconds": result.samples,
                "median": {method: result.median(method) for method in result.samples},
            }
            | {"ratio": {method: result.ratio(method) for method in result.case.others}, "wrong": result.wrong}
            for result in self.cases
        ]
        return {"machine": self.machine, "settings": self.settings, "cases": cases}


def run_small(settings: SmallSettings, progress: Progress = lambda text, share: None) -> SmallResults:
    """Measure all cases.

    errors  plait.Error: no MPI, no space, ranks that fail
    """
    require_mpi()
    if settings.directory is not None:
        Path(settings.directory).mkdir(parents=True, exist_ok=True)
    steps = Steps(progress, sum(len(make_cases(ranks, settings.edges)) for ranks in settings.ranks))
    with tempfile.TemporaryDirectory(prefix="plait-bench-", dir=settings.directory) as name:
        results = SmallResults(describe_machine(Path(name)), asdict(settings))
        for ranks in settings.ranks:
            _run_ranks(settings, make_cases(ranks, settings.edges), name, results, steps)
    return results


def _run_ranks(
    settings: SmallSettings, cases: list[SmallCase], folder: str, results: SmallResults, steps: Steps
) -> None:
    """Measure the cases of one number of ranks."""
    path = Path(folder) / "job.json"
    timeout = REPORT_TIMEOUT + 4 * settings.sampling_seconds
    SmallJob(cases, folder, settings.rounds, settings.sampling_seconds, timeout * (len(cases) + 1)).save(path)
    measured = 0
    with RankProgram(cases[0].ranks, _MODULE, [str(path)]) as program:
        for event in program.events(timeout):
            if event["event"] == "hello":
                results.machine["MPI"] = shorten_library(event["mpi"])
            elif event["event"] == "case":
                case = cases[event["number"]]
                results.cases.append(SmallResult(case, event["samples"], event["wrong"]))
                measured += 1
                steps.complete(f"{plait.Layout.parse(case.layout)}, {case.access}")
    if measured < len(cases):
        raise plait.Error(f"the ranks ended before they had measured {cases[measured].layout}")
