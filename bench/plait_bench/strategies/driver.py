"""The driver of `plait bench strategies`: starts the ranks and computes the cost of Plait's choices.

A variant is a strategy with its number of readers, such as `two-phase by 2`.  Plait's choice is also measured as one of
the forced variants.  Both take the same time in theory, so their times are averaged; otherwise the noise between two
equal variants would count as a loss.
"""

from __future__ import annotations

import math
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import plait
from plait.launch import Event, RankProgram, require_mpi
from plait.model.calibration import in_force
from plait_bench.machine import describe_machine, shorten_library
from plait_bench.steps import REPORT_TIMEOUT, Progress, Steps
from plait_bench.strategies.job import (
    CHOSEN,
    EDGES,
    QUICK_EDGES,
    RANKS,
    StrategiesJob,
    StrategyCase,
    grid_of_cases,
    select_evenly,
)
from plait_bench.strategies.verdict import NEAR, Verdict, find_best, judge_choice, reachable_share, relative_loss

_MODULE = "plait_bench.strategies.ranks"
_FIELDS = ("modelled", "chosen", "in_the_end", "samples", "first", "wrong")


@dataclass(frozen=True)
class StrategiesSettings:
    """The parameters of the measurements."""

    cases: int = 240
    """Number of cases, evenly spaced over the whole grid."""
    ranks: tuple[int, ...] = RANKS
    rounds: int = 8
    quick: bool = False
    """True to measure small arrays only."""
    cold: bool = True
    """True to read the largest arrays from the disk as well, if they can be dropped from the page cache."""
    directory: str | None = None

    def grid(self) -> list[StrategyCase]:
        """Return the cases, grouped by the number of ranks."""
        edges = QUICK_EDGES if self.quick else EDGES
        return select_evenly(grid_of_cases(self.ranks, edges, self.cold), self.cases)


@dataclass
class CaseResult:
    """The results of one case.  All times are in seconds, until the last rank is done."""

    case: StrategyCase
    modelled: str = ""
    """The variant that the cost model chose for the first access."""
    chosen: str = ""
    """The variant that Plait chose after some accesses, by the cost model or by measured times."""
    in_the_end: str = ""
    """The variant that Plait chose after all rounds."""
    samples: dict[str, list[float]] = field(default_factory=dict)
    """Variant → one time per round, without variants whose first try took far longer than that of another variant."""
    first: dict[str, float] = field(default_factory=dict)
    """Variant → the time of the first try."""
    wrong: list[str] = field(default_factory=list)
    """Variants with wrong data."""

    def forced_times(self) -> dict[str, list[float]]:
        """Return the times of each forced variant."""
        return {variant: times for variant, times in self.samples.items() if variant != CHOSEN}

    def choice_times(self) -> list[float]:
        """Return the time of Plait's choice in each round.

        If the choice did not change, it is averaged with the time of the same variant when forced.
        """
        times = self.samples[CHOSEN]
        if self.chosen != self.in_the_end or self.chosen not in self.samples:
            return times
        return [statistics.fmean(both) for both in zip(times, self.samples[self.chosen], strict=True)]

    @property
    def best(self) -> str:
        """The variant with the shortest time."""
        return find_best(self.forced_times())

    def median(self, variant: str) -> float:
        """Return the median time of a variant; CHOSEN is the choice."""
        return statistics.median(self.choice_times() if variant == CHOSEN else self.samples[variant])

    @property
    def loss(self) -> float:
        """The additional time of the choice, relative to the best variant."""
        return relative_loss(self.choice_times(), self.forced_times())

    @property
    def model_loss(self) -> float:
        """The additional time of the model's first choice, relative to the best variant; infinite if not measured."""
        return (
            relative_loss(self.samples[self.modelled], self.forced_times())
            if self.modelled in self.samples
            else math.inf
        )

    @property
    def verdict(self) -> Verdict:
        """The verdict whether the choice is near the best variant, as far as the noise permits one."""
        return judge_choice(self.choice_times(), self.forced_times())


@dataclass
class StrategiesResults:
    """All results of one run of the benchmark."""

    machine: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    cases: list[CaseResult] = field(default_factory=list)
    not_cold: int = 0
    """Number of cases that were left out, because their file could not be dropped from the page cache."""

    def find_wrong_data(self) -> list[tuple[str, str]]:
        """Return each case and variant with wrong data."""
        return [(result.case.title, variant) for result in self.cases for variant in result.wrong]

    def _share_of_cases(self, predicate: Callable[[CaseResult], float]) -> float | None:
        return sum(predicate(result) for result in self.cases) / len(self.cases) if self.cases else None

    @property
    def near_share(self) -> float | None:
        """The share of cases in which the choice takes at most a tenth longer than the best variant."""
        return self._share_of_cases(lambda result: result.loss <= NEAR)

    @property
    def model_near_share(self) -> float | None:
        """The share of cases in which the model's first choice takes at most a tenth longer than the best variant."""
        return self._share_of_cases(lambda result: result.model_loss <= NEAR)

    @property
    def reachable_share(self) -> float | None:
        """The highest share that any choice can be expected to reach.

        The choice is the best variant of one half of the rounds, and the other half judges it. The share is below 1 if
        noise makes different variants the best ones in the two halves.
        """
        return self._share_of_cases(lambda result: reachable_share(result.forced_times()))

    def verdicts(self) -> dict[Verdict, int]:
        """Return the number of cases by verdict: certainly near the best variant, certainly far from it, or open."""
        counts: dict[Verdict, int] = {"near": 0, "open": 0, "far": 0}
        for result in self.cases:
            counts[result.verdict] += 1
        return counts

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain lists, dictionaries, texts and numbers."""
        cases = [
            {
                **asdict(result.case),
                "shape": list(result.case.shape),
                "chosen": result.chosen,
                "modelled": result.modelled,
                "in_the_end": result.in_the_end,
                "best": result.best,
                "loss": result.loss,
                "model_loss": result.model_loss if result.modelled in result.samples else None,
                "verdict": result.verdict,
                "medians": {variant: result.median(variant) for variant in result.samples},
                "seconds": result.samples,
                "first_seconds": result.first,
                "wrong": result.wrong,
            }
            for result in self.cases
        ]
        return {
            "machine": self.machine,
            "settings": self.settings,
            "within_a_tenth": self.near_share,
            "within_a_tenth_by_model": self.model_near_share,
            "within_a_tenth_by_other_half": self.reachable_share,
            "verdicts": self.verdicts(),
            "not_cold": self.not_cold,
            "cases": cases,
        }


def run_strategies(settings: StrategiesSettings, progress: Progress = lambda text, share: None) -> StrategiesResults:
    """Measure the cases; the rank program is started once for each number of ranks.

    errors  plait.Error: no MPI, no space, ranks that fail
    """
    results = StrategiesResults(settings=asdict(settings))

    def add_result(event: Event, case: StrategyCase) -> None:
        if not event["possible"]:
            results.not_cold += 1
            return
        results.cases.append(CaseResult(case, **{name: event[name] for name in _FIELDS}))

    results.machine = run_cases(settings, add_result, progress, programs=False)
    return results


def run_cases(
    settings: StrategiesSettings,
    handle_case: Callable[[Event, StrategyCase], None],
    progress: Progress,
    *,
    programs: bool,
) -> dict[str, str]:
    """Start the ranks, call `handle_case` for each measured case, and return a description of the machine.

    errors  as run_strategies()
    """
    require_mpi()
    if settings.directory is not None:
        Path(settings.directory).mkdir(parents=True, exist_ok=True)
    grid = settings.grid()
    steps = Steps(progress, len(grid))
    with tempfile.TemporaryDirectory(prefix="plait-bench-", dir=settings.directory) as name:
        folder = Path(name)
        machine = {**describe_machine(folder), "constants": in_force().source or "built in"}
        for ranks, group in groupby(grid, lambda case: case.ranks):
            cases = list(group)
            path = folder / "job.json"
            StrategiesJob(cases, str(folder), settings.rounds, programs, REPORT_TIMEOUT * (len(cases) + 1)).save(path)
            measured = 0
            with RankProgram(ranks, _MODULE, [str(path)]) as program:
                for event in program.events(REPORT_TIMEOUT):
                    if event["event"] == "hello":
                        machine["MPI"] = shorten_library(event["mpi"])
                    elif event["event"] == "case":
                        measured += 1
                        handle_case(event, cases[event["number"]])
                        steps.complete(cases[event["number"]].title)
            if measured < len(cases):
                raise plait.Error(f"the ranks ended before they had measured {cases[measured].title}")
    return machine
