"""The driver of `plait bench strategies`: starts the ranks and says what the cost model's choices cost.

The strategy that the model chose is one of those that are forced.  What both take is the same, so their times are put
together: otherwise the noise between two equal ways would count as a loss.
"""

from __future__ import annotations

import re
import statistics
import tempfile
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import plait
from plait.launch import Event, RankProgram, require_mpi
from plait.model.calibration import in_force
from plait_bench.machine import describe_machine, shorten_library
from plait_bench.steps import PATIENCE, Progress, Steps
from plait_bench.strategies.job import (
    CHOSEN,
    EDGES,
    QUICK_EDGES,
    RANKS,
    StrategiesJob,
    StrategyCase,
    grid_of_cases,
    some_of,
)

_MODULE = "plait_bench.strategies.ranks"
NEAR = 0.10
"""A choice within this part of the best time is as good as the best."""


@dataclass(frozen=True)
class StrategiesSettings:
    """What to measure."""

    cases: int = 240
    """How many cases, evenly out of the whole grid."""
    ranks: tuple[int, ...] = RANKS
    rounds: int = 5
    quick: bool = False
    """Small arrays only."""
    cold: bool = True
    """Read the largest arrays from the disk as well, where they can be dropped from the page cache."""
    directory: str | None = None

    def grid(self) -> list[StrategyCase]:
        """Return the cases, those of equal numbers of ranks together."""
        edges = QUICK_EDGES if self.quick else EDGES
        return some_of(grid_of_cases(self.ranks, edges, self.cold), self.cases)


@dataclass
class CaseResult:
    """One case.  All times are in seconds, until the last rank is done."""

    case: StrategyCase
    chosen: str = ""
    """The strategy that was taken in the end, by the cost model or by what accesses took."""
    modelled: str = ""
    """The strategy that the cost model took at first."""
    samples: dict[str, list[float]] = field(default_factory=dict)
    """Way → one time a round; none where the first try took far longer than another way."""
    first: dict[str, float] = field(default_factory=dict)
    """Way → the time of that first try."""
    wrong: list[str] = field(default_factory=list)
    """Ways that brought wrong data."""

    def medians(self) -> dict[str, float]:
        """Return the median of each strategy; that of the chosen one is of all its times, forced or not."""
        pooled = {way: list(times) for way, times in self.samples.items() if way != CHOSEN and times}
        pooled.setdefault(self.chosen, []).extend(self.samples.get(CHOSEN, []))
        return {way: statistics.median(times) for way, times in pooled.items() if times}

    @property
    def best(self) -> str:
        """The strategy that took the shortest time."""
        medians = self.medians()
        return min(medians, key=lambda way: medians[way])

    @property
    def loss(self) -> float:
        """What the chosen strategy takes more than the best one, as a part of that."""
        medians = self.medians()
        return medians[self.chosen] / medians[self.best] - 1

    @property
    def model_loss(self) -> float:
        """The same for the strategy that the cost model took at first; infinite where that was too slow to measure."""
        medians = self.medians()
        return medians.get(self.modelled, float("inf")) / medians[self.best] - 1


@dataclass
class StrategiesResults:
    """Everything that one run of the benchmark found."""

    machine: dict[str, str]
    settings: dict[str, Any]
    cases: list[CaseResult] = field(default_factory=list)
    not_cold: int = 0
    """Cases that were left out, as their file stays in the page cache whatever is said."""

    def wrong(self) -> list[tuple[str, str]]:
        """Return each case and way that brought wrong data."""
        return [(result.case.title, way) for result in self.cases for way in result.wrong]

    @property
    def near(self) -> float | None:
        """The share of the cases in which the choice is within a tenth of the best."""
        if not self.cases:
            return None
        return sum(result.loss <= NEAR for result in self.cases) / len(self.cases)

    @property
    def near_by_model(self) -> float | None:
        """The same for what the cost model alone chooses."""
        if not self.cases:
            return None
        return sum(result.model_loss <= NEAR for result in self.cases) / len(self.cases)

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain lists, dictionaries, texts and numbers."""
        cases = [
            {
                **asdict(result.case),
                "shape": list(result.case.shape),
                "chosen": result.chosen,
                "modelled": result.modelled,
                "best": result.best,
                "loss": result.loss,
                "medians": result.medians(),
                "seconds": result.samples,
                "first_seconds": result.first,
                "wrong": result.wrong,
            }
            for result in self.cases
        ]
        return {
            "machine": self.machine,
            "settings": self.settings,
            "within_a_tenth": self.near,
            "within_a_tenth_by_model": self.near_by_model,
            "not_cold": self.not_cold,
            "cases": cases,
        }


def chosen_in(plan: str) -> str:
    """Return the strategy that the text of a plan names."""
    found = re.search(r"^strategy\s+([\w-]+(?: by \d+)?)", plan, re.MULTILINE)
    if found is None:
        raise plait.Error(f"no line of this plan names its strategy:\n{plan}")
    return found.group(1)


def run_strategies(settings: StrategiesSettings, progress: Progress = lambda text, share: None) -> StrategiesResults:
    """Measure the cases, one start of ranks for each number of them.

    errors  plait.Error: no MPI, no room, ranks that fail
    """
    require_mpi()
    if settings.directory is not None:
        Path(settings.directory).mkdir(parents=True, exist_ok=True)
    grid = settings.grid()
    steps = Steps(progress, len(grid))
    with tempfile.TemporaryDirectory(prefix="plait-bench-", dir=settings.directory) as name:
        folder = Path(name)
        machine = {**describe_machine(folder), "constants": in_force().source or "built in"}
        results = StrategiesResults(machine, asdict(settings))
        for ranks, group in groupby(grid, lambda case: case.ranks):
            cases = list(group)
            path = folder / "job.json"
            StrategiesJob(cases, str(folder), settings.rounds, PATIENCE * (len(cases) + 1)).save(path)
            with RankProgram(ranks, _MODULE, [str(path)]) as program:
                _collect(program, cases, results, steps)
    return results


def _collect(program: RankProgram, cases: list[StrategyCase], results: StrategiesResults, steps: Steps) -> None:
    measured = 0
    for event in program.events(PATIENCE):
        if event["event"] == "hello":
            results.machine["MPI"] = shorten_library(event["mpi"])
        elif event["event"] == "case":
            measured += 1
            _note(event, cases[event["number"]], results)
            steps.done(cases[event["number"]].title)
    if measured < len(cases):
        raise plait.Error(f"the ranks ended before they had measured {cases[measured].title}")


def _note(event: Event, case: StrategyCase, results: StrategiesResults) -> None:
    if not event["possible"]:
        results.not_cold += 1
        return
    plans = chosen_in(event["plan"]), chosen_in(event["modelled"])
    results.cases.append(CaseResult(case, *plans, event["samples"], event["first"], event["wrong"]))
