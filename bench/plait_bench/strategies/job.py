"""The cases of `plait bench strategies`, and the job that its driver passes to the ranks."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import Any, Literal

import plait
from plait_bench.cells import CELLS, near_square
from plait_bench.job import Operation, SavedJob

Cache = Literal["cached", "cold"]

# The measured variants: strategies with their number of readers.  `two-phase by 2` is two-phase access with 2 readers;
# `two-phase` lets Plait choose the number.
CHOSEN = "automatic"
DIRECT = "direct"
TWO_PHASE = "two-phase"

EDGES = (100, 700, 2500)
"""Rows and columns of the arrays; arrays of three dimensions have about the same number of elements."""
QUICK_EDGES = (50, 300)
ACCESSES = (1, 3, 6, 12, 50)
"""Numbers of accesses of the measured programs, each of which repeats one access."""
RANKS = (1, 2, 3, 4)

_ROWS_FIRST = (("block", "*"), ("*", "block"), ("cyclic(16)", "cyclic(16)"))
"""Distributions that are also measured with local arrays in C order; the file is in Fortran order."""


@dataclass(frozen=True)
class StrategyCase:
    """One array, read or written by a number of ranks.  The file has its elements in Fortran order."""

    dist: tuple[str, ...]
    order: Literal["C", "F"]
    """The order of the local arrays."""
    edge: int
    """Rows and columns of a square with about the same number of elements."""
    dtype: str
    ranks: int
    operation: Operation
    cache: Cache = "cached"

    @property
    def shape(self) -> tuple[int, ...]:
        """Global extents."""
        dimensions = len(self.dist)
        return (max(1, round(self.edge ** (2 / dimensions))),) * dimensions

    def layout(self) -> plait.Layout:
        """Return the layout that is read or written."""
        return plait.Layout(self.shape, list(self.dist), grid=_grid(self.dist, self.ranks), order=self.order)

    def variants(self) -> list[str]:
        """Return Plait's own choice and all forced variants, several of which may have the same plan."""
        readers = sorted({1, self.ranks // 2, self.ranks} - {0}) if self.ranks > 1 else []
        return [CHOSEN, DIRECT, TWO_PHASE, *(two_phase_name(count) for count in readers)]

    @property
    def title(self) -> str:
        """A short description of the case."""
        shape = "x".join(map(str, self.shape))
        ranks = f"{self.ranks} rank{'' if self.ranks == 1 else 's'}"
        return f"{self.operation} {shape} {self.dtype} ({', '.join(self.dist)}) {self.order}, {ranks}, {self.cache}"

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> StrategyCase:
        """Return the case with these fields, which were read from JSON."""
        return cls(**{**fields, "dist": tuple(fields["dist"])})


def two_phase_name(readers: int) -> str:
    """Return the variant of two-phase access with `readers` readers."""
    return f"{TWO_PHASE} by {readers}"


def open_keywords(variant: str) -> dict[str, Any]:
    """Return the arguments of `plait.open` that select a variant."""
    strategy, _, readers = variant.partition(" by ")
    return {"strategy": strategy, "readers": int(readers) if readers else 0}


def parse_plan(plan: str) -> str:
    """Return the variant in the text of a plan: the strategy, and for two-phase access the number of readers."""
    strategy = re.search(r"^strategy\s+([\w-]+)", plan, re.MULTILINE)
    if strategy is None:
        raise plait.Error(f"no line of this plan names its strategy:\n{plan}")
    readers = re.search(r"^(?:readers|writers)\s+(\d+) of", plan, re.MULTILINE)
    return strategy.group(1) if readers is None else two_phase_name(int(readers.group(1)))


def _grid(dist: tuple[str, ...], ranks: int) -> tuple[int, ...]:
    distributed = sum(text != "*" for text in dist)
    if distributed == 1:
        return (ranks,)
    return (*near_square(ranks), *(1,) * (distributed - 2))


def grid_of_cases(
    ranks: tuple[int, ...] = RANKS, edges: tuple[int, ...] = EDGES, cold: bool = True
) -> list[StrategyCase]:
    """Return all cases: sizes, layouts, types, ranks, reading and writing, and reading the largest from the disk."""
    cases = []
    for count in ranks:
        for (dist, order), dtype, edge in itertools.product(_layouts(count), ("f8", "u1"), edges):
            kinds: list[tuple[Operation, Cache]] = [("read", "cached"), ("write", "cached")]
            if cold and edge == max(edges):
                kinds.append(("read", "cold"))
            cases += [StrategyCase(dist, order, edge, dtype, count, *kind) for kind in kinds]
    return cases


def _layouts(ranks: int) -> list[tuple[tuple[str, ...], Literal["C", "F"]]]:
    if ranks == 1:  # all distributions are the same
        return [(("*", "block"), "F"), (("*", "block"), "C")]
    return [
        *((cell.dist, "F") for cell in CELLS),
        *((dist, "C") for dist in _ROWS_FIRST),
        (("block", "block", "*"), "F"),
        (("cyclic(4)", "*", "block"), "C"),
    ]


def select_evenly(cases: list[StrategyCase], count: int) -> list[StrategyCase]:
    """Return `count` of the cases, evenly spaced over the whole grid; all cases if there are not more than `count`."""
    if count >= len(cases):
        return cases
    return [cases[number * len(cases) // count] for number in range(count)]


@dataclass(frozen=True)
class StrategiesJob(SavedJob):
    """The work of one run of the rank program."""

    cases: list[StrategyCase]
    folder: str
    rounds: int
    programs: bool
    """True to measure whole programs, which make many accesses of a newly opened file."""
    limit: float
    """Seconds after which a rank ends itself if the driver is gone."""

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> StrategiesJob:
        """Return the job with these fields."""
        fields["cases"] = [StrategyCase.from_fields(case) for case in fields["cases"]]
        return cls(**fields)
