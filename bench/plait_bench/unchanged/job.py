"""The job that the driver of `plait bench mpiio` passes to its ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plait_bench.job import SavedJob

# The views of squares of doubles: none, or the distribution of a darray.
OFFSET = "offsets"
ROWS = "(block, *)"
BLOCKS = "(block, block)"
CYCLIC = "(cyclic, cyclic)"
VIEWS = (OFFSET, ROWS, BLOCKS, CYCLIC)

# The views of lists, by the lengths of their pieces.
MIXED = "8 to 80 bytes, random"
HOLES = "the same, with holes"
EQUAL = "8 bytes, random"
MEMORY = "24 bytes, memory holes"
SLABS = "two hyperslabs"
TEN_PIECES = "8 bytes"
ONE_PIECE = "100,000 bytes"
LISTS = (MIXED, HOLES, EQUAL, MEMORY, SLABS)
"""Lists of many pieces, which Plait may carry out."""
SHORT_LISTS = {TEN_PIECES: 10, ONE_PIECE: 1}
"""Lists that Plait leaves to the MPI, with their numbers of pieces."""

# The accesses.
WRITE = "open, write, close"
READ = "open, read, close"
VIEW_WRITE = "set view, write"
VIEW_READ = "set view, read"


@dataclass(frozen=True)
class UnchangedCase:
    """An access through MPI-IO to a square of doubles, or to lists of pieces that form no array."""

    access: str
    edge: int
    """Rows and columns of the square; 0 for lists."""
    ranks: int
    view: str
    """The distribution of the darray that is the view, or what its pieces are; OFFSET for accesses of rows at an
    offset, without a view."""
    pieces: int = 0
    """Pieces of each rank; 0 for squares."""

    @property
    def reads(self) -> bool:
        """True if the access reads."""
        return self.access in (READ, VIEW_READ)

    @property
    def size(self) -> str:
        """The size, for a table."""
        return f"{self.pieces:,} pieces" if self.pieces else f"{self.edge} x {self.edge}"

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


def make_cases(
    ranks: int, edges: tuple[int, ...], views: tuple[str, ...] = VIEWS, *, pieces: int = 0
) -> list[UnchangedCase]:
    """Return the cases of one number of ranks.

    pieces  of each rank in long lists; 0 for no lists
    """
    squares = [
        UnchangedCase(access, edge, ranks, view)
        for edge in edges
        for view in views
        for access in (WRITE, READ, VIEW_WRITE)
        if access != VIEW_WRITE or view != OFFSET
    ]
    lists = {**dict.fromkeys(LISTS, pieces), **SHORT_LISTS} if pieces else {}
    return squares + [
        UnchangedCase(access, 0, ranks, view, number)
        for view, number in lists.items()
        for access in (VIEW_WRITE, VIEW_READ)
    ]
