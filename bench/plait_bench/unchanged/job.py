"""The job that the driver of `plait bench mpiio` passes to its ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plait_bench.job import SavedJob

OFFSET = "offsets"
ROWS = "(block, *)"
BLOCKS = "(block, block)"
CYCLIC = "(cyclic, cyclic)"
VIEWS = (OFFSET, ROWS, BLOCKS, CYCLIC)

WRITE = "open, write, close"
READ = "open, read, close"
STEPS = "set view, write"


@dataclass(frozen=True)
class UnchangedCase:
    """An access to a square of doubles through MPI-IO."""

    access: str
    edge: int
    ranks: int
    view: str
    """The distribution of the darray that is the view; OFFSET for accesses of rows at an offset, without a view."""

    @property
    def grid(self) -> tuple[int, int]:
        """The grid of the ranks: as square as possible for distributions of both dimensions."""
        if self.view in (OFFSET, ROWS):
            return self.ranks, 1
        rows = max(rows for rows in range(1, self.ranks + 1) if self.ranks % rows == 0 and rows * rows <= self.ranks)
        return rows, self.ranks // rows


@dataclass(frozen=True)
class UnchangedJob(SavedJob):
    """The cases of one number of ranks."""

    cases: list[UnchangedCase]
    folder: str
    samples: int
    sampling_seconds: float
    """Seconds after which a case gets no more samples in a run."""
    limit: float

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> UnchangedJob:
        """Return the job with these fields, which were read from JSON."""
        return cls(**{**fields, "cases": [UnchangedCase(**case) for case in fields["cases"]]})


def make_cases(ranks: int, edges: tuple[int, ...], views: tuple[str, ...] = VIEWS) -> list[UnchangedCase]:
    """Return the cases of one number of ranks."""
    return [
        UnchangedCase(access, edge, ranks, view)
        for edge in edges
        for view in views
        for access in (WRITE, READ, STEPS)
        if access != STEPS or view != OFFSET
    ]
