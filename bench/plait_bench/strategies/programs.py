"""Compares programs that make several accesses, including the first one, with the best strategy for all accesses."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from plait.launch import Event
from plait_bench.steps import Progress
from plait_bench.strategies.driver import StrategiesSettings, run_cases
from plait_bench.strategies.job import ACCESSES, CHOSEN, StrategyCase
from plait_bench.strategies.verdict import NEAR, find_best
from plait_bench.text import count_text, factor, machine_line, notes, titled_table, version_line


@dataclass
class ProgramsResult:
    """The results of the programs of one case."""

    case: StrategyCase
    modelled: str
    """The variant that Plait chose for the first access."""
    seconds: dict[str, list[list[float]]]
    """Variant → for each round, the times of the numbers of accesses in ACCESSES."""

    def ratio(self, number: int) -> float:
        """Return the time of Plait's choice divided by that of the best variant, for ACCESSES[number] accesses.

        One half of the rounds selects the best variant, and the other half measures it, and vice versa: the minimum of
        noisy times in the same rounds would be too small.
        """
        times = {variant: [program[number] for program in rounds] for variant, rounds in self.seconds.items()}
        chosen = times.pop(CHOSEN)
        halves = (slice(0, None, 2), slice(1, None, 2)) if len(chosen) > 1 else (slice(None), slice(None))
        ratios = []
        for selecting, measuring in (halves, halves[::-1]):
            best = times[find_best(times, selecting)]
            pairs = zip(chosen[measuring], best[measuring], strict=True)
            ratios.append(statistics.median(chosen_seconds / best_seconds for chosen_seconds, best_seconds in pairs))
        return statistics.fmean(ratios)


@dataclass
class ProgramsResults:
    """All results of one run."""

    machine: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    cases: list[ProgramsResult] = field(default_factory=list)
    wrong_data: list[tuple[str, str]] = field(default_factory=list)

    def find_wrong_data(self) -> list[tuple[str, str]]:
        """Return each case and variant with wrong data."""
        return self.wrong_data

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain lists, dictionaries, texts and numbers."""
        cases = [
            {
                **asdict(result.case),
                "modelled": result.modelled,
                "ratios": [result.ratio(number) for number in range(len(ACCESSES))],
                "seconds": result.seconds,
            }
            for result in self.cases
        ]
        return {"machine": self.machine, "settings": self.settings, "accesses": list(ACCESSES), "cases": cases}


def run_programs(settings: StrategiesSettings, progress: Progress = lambda text, share: None) -> ProgramsResults:
    """Measure the programs of all cases.  errors  as run_strategies()"""
    results = ProgramsResults(settings=asdict(settings))

    def add_result(event: Event, case: StrategyCase) -> None:
        results.cases.append(ProgramsResult(case, event["modelled"], event["programs"]))
        results.wrong_data += [(case.title, variant) for variant in event["wrong"]]

    results.machine = run_cases(settings, add_result, progress, programs=True)
    return results


def programs_table(results: ProgramsResults) -> RenderableType:
    """Return the results as header, table and notes."""
    rounds = results.settings["rounds"]
    table = titled_table(f"Programs of some accesses, times of the best strategy for all of them, {rounds} rounds")
    for title in ("Accesses", "Median", "Mean", "9 of 10 below", "Largest", f"Within {100 * NEAR:.0f} %"):
        table.add_column(title, justify="right")
    for number, accesses in enumerate(ACCESSES):
        ratios = sorted(result.ratio(number) for result in results.cases)
        near = sum(ratio <= 1 + NEAR for ratio in ratios) / len(ratios)
        table.add_row(
            str(accesses), factor(statistics.median(ratios)), factor(statistics.fmean(ratios)),
            factor(ratios[min(len(ratios) * 9 // 10, len(ratios) - 1)]), factor(ratios[-1]), f"{100 * near:.0f} %",
        )  # fmt: skip
    machine = results.machine
    header = Text(f"{machine_line(machine)}\n{machine.get('MPI', 'MPI')}; {version_line(machine)}")
    lines = [
        f"{count_text(len(results.cases), 'case')}; a program opens the file, which is not timed, and "
        "repeats one access.",
        "The best strategy is selected in the other half of the rounds; it is forced from the first access on.",
        f"Constants of the cost model: {machine.get('constants', 'built in')}.",
    ]
    return Group(header, Text(), table, notes(lines, [f"{name}, {variant}" for name, variant in results.wrong_data],
                                              "Every byte of a first access was checked."))  # fmt: skip
