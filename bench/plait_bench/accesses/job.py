"""The job that the driver of `plait bench accesses` passes to its ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plait_bench.job import Operation, SavedJob

CASES = (
    ("(block, *)", "direct"),
    ("(*, block)", "direct"),
    ("(*, block)", "two-phase"),
    ("(cyclic, *)", "two-phase"),
    ("(*, cyclic)", "two-phase"),
)
"""The measured distributions and strategies; each is measured for reading and for writing."""


@dataclass(frozen=True)
class AccessCase:
    """One access of a square array of doubles in C order, whose file is in the page cache."""

    dist: str
    strategy: str
    operation: Operation
    ranks: int
    edge: int

    @property
    def layout(self) -> str:
        """The layout in Plait's notation, without its shape."""
        return f"{self.dist} onto ({self.ranks})"


@dataclass(frozen=True)
class AccessesJob(SavedJob):
    """The cases of one number of ranks."""

    cases: list[AccessCase]
    folder: str
    rounds: int
    limit: float

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> AccessesJob:
        """Return the job with these fields, which were read from JSON."""
        return cls(**{**fields, "cases": [AccessCase(**case) for case in fields["cases"]]})
