"""The driver of `plait bench accesses`: starts the ranks, and predicts each case by simulation."""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import plait
from plait import simulate
from plait.launch import RankProgram, require_mpi
from plait.simulate.plans import here_text
from plait_bench.accesses.job import CASES, AccessCase, AccessesJob
from plait_bench.machine import describe_machine, shorten_library
from plait_bench.steps import REPORT_TIMEOUT, Progress, Steps

_MODULE = "plait_bench.accesses.ranks"


@dataclass(frozen=True)
class AccessesSettings:
    """The parameters of the measurements."""

    ranks: tuple[int, ...] = (2, 3, 4, 6)
    edge: int = 2048
    """Rows and columns of the array of doubles."""
    rounds: int = 15
    machine: str | None = None
    """A machine file; None: this host, with the constants in force."""
    directory: str | None = None

    def cases(self, ranks: int) -> list[AccessCase]:
        """Return the cases of one number of ranks."""
        return [
            AccessCase(dist, strategy, operation, ranks, self.edge)
            for dist, strategy in CASES
            for operation in ("read", "write")
        ]


@dataclass
class AccessResult:
    """The result of one case.  Times are in seconds, until the last rank has finished."""

    case: AccessCase
    samples: list[float]
    predicted: float
    """The time that the simulation predicts."""
    correct: bool
    """True if every byte was correct."""

    @property
    def median(self) -> float:
        """The median of the samples."""
        return statistics.median(self.samples)

    @property
    def error(self) -> float:
        """The relative error of the prediction against the median; negative if the prediction is too low."""
        return self.predicted / self.median - 1


@dataclass
class AccessesResults:
    """All results of one run of the benchmark."""

    machine: dict[str, str]
    settings: dict[str, Any]
    cases: list[AccessResult] = field(default_factory=list)

    def find_wrong_data(self) -> list[AccessCase]:
        """Return the cases in which some data was wrong."""
        return [result.case for result in self.cases if not result.correct]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain lists, dictionaries, texts and numbers."""
        cases = [
            {**asdict(result.case), "seconds": result.samples, "median": result.median, "predicted": result.predicted}
            | {"error": result.error, "correct": result.correct}
            for result in self.cases
        ]
        return {"machine": self.machine, "settings": self.settings, "cases": cases}


def predict_seconds(case: AccessCase, machine: simulate.Machine) -> float:
    """Return the seconds that the simulation predicts for a file in the page cache, with all ranks on one node."""
    store = f"accesses.bin?shape={case.edge}x{case.edge}"
    return simulate.run_plan(
        case.operation, case.layout, store, machine=machine, per_node=0, cached=True, strategy=case.strategy
    ).elapsed


def run_accesses(settings: AccessesSettings, progress: Progress = lambda text, share: None) -> AccessesResults:
    """Measure the cases; the rank program is started once for each number of ranks.

    errors  plait.Error: no MPI, no space, ranks that fail; plait.ArgumentError: an invalid machine file
    """
    require_mpi()
    machine = simulate.parse(here_text()) if settings.machine is None else simulate.load(settings.machine)
    if settings.directory is not None:
        Path(settings.directory).mkdir(parents=True, exist_ok=True)
    steps = Steps(progress, len(settings.ranks) * len(settings.cases(1)))
    with tempfile.TemporaryDirectory(prefix="plait-bench-", dir=settings.directory) as name:
        results = AccessesResults(describe_machine(Path(name)), asdict(settings))
        for ranks in settings.ranks:
            cases = settings.cases(ranks)
            path = Path(name) / "job.json"
            AccessesJob(cases, name, settings.rounds, REPORT_TIMEOUT * (len(cases) + 1)).save(path)
            measured = 0
            with RankProgram(ranks, _MODULE, [str(path)]) as program:
                for event in program.events(REPORT_TIMEOUT):
                    if event["event"] == "hello":
                        results.machine["MPI"] = shorten_library(event["mpi"])
                    elif event["event"] == "case":
                        case = cases[event["number"]]
                        predicted = predict_seconds(case, machine)
                        results.cases.append(AccessResult(case, event["samples"], predicted, event["correct"]))
                        measured += 1
                        steps.complete(f"{ranks} ranks, {case.operation} {case.dist}, {case.strategy}")
            if measured < len(cases):
                raise plait.Error(f"the ranks ended before they had measured {cases[measured].layout}")
    return results
