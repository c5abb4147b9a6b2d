"""The cells of `plait bench redistribute`, and the settings that its driver passes to the ranks."""

from __future__ import annotations

from dataclasses import dataclass

import plait
from plait_bench.cells import near_square
from plait_bench.job import SavedJob

# The measurements of a cell.
SHARED = "shared"  # a reusable plan on arrays in memory that the ranks of a node share
PRIVATE = "private"  # a reusable plan on private NumPy arrays
CALL = "call"  # plait.redistribute() of private arrays, without a plan, into a new array
PLAIN = "plain"  # memcpy of as many bytes as each rank holds, by all ranks at once
PAST = "past"  # like PLAIN, with stores past the caches
ALLTOALLW = "alltoallw"  # MPI_Alltoallw

METHODS = (SHARED, PRIVATE, CALL, PLAIN, PAST, ALLTOALLW)


@dataclass(frozen=True)
class Cell:
    """One redistribution: the distribution of each dimension before and after, and the local orders."""

    name: str
    source: tuple[str, str]
    target: tuple[str, str]
    source_column: bool = False
    """True if a grid of two dimensions is a single column of ranks; otherwise it is nearly square."""
    target_column: bool = False
    orders: tuple[str, str] = ("C", "C")

    def layouts(self, extent: int, ranks: int) -> tuple[plait.Layout, plait.Layout]:
        """Return the two layouts of a square array."""
        pairs = ((self.source, self.source_column), (self.target, self.target_column))
        layouts = [
            plait.Layout((extent, extent), list(dist), grid=_grid(dist, column, ranks), order=order)
            for (dist, column), order in zip(pairs, self.orders, strict=True)
        ]
        return layouts[0], layouts[1]


def _grid(dist: tuple[str, str], column: bool, ranks: int) -> tuple[int, ...]:
    if "*" in dist:
        return (ranks,)
    return (ranks, 1) if column else near_square(ranks)


def _both(text: str) -> tuple[str, str]:
    return text, text


CELLS = (
    Cell("cyclic(64) to itself", _both("cyclic(64)"), _both("cyclic(64)")),
    Cell("cyclic(36) to cyclic(128)", _both("cyclic(36)"), _both("cyclic(128)")),
    Cell("cyclic(8) to cyclic(128), square to column", _both("cyclic(8)"), _both("cyclic(128)"), target_column=True),
    Cell("cyclic(1) to cyclic(128)", _both("cyclic"), _both("cyclic(128)")),
    Cell("cyclic(1500) to cyclic(64)", _both("cyclic(1500)"), _both("cyclic(64)")),
    Cell("C order to F order", ("block", "*"), ("block", "*"), orders=("C", "F")),
    Cell("rows to columns", ("block", "*"), ("*", "block")),
    Cell("block to cyclic rows", ("block", "*"), ("cyclic", "*")),
)


def find_cell(name: str) -> Cell:
    """Return the cell with a name."""
    return next(cell for cell in CELLS if cell.name == name)


@dataclass(frozen=True)
class RedistributeJob(SavedJob):
    """The work of one run of the rank program."""

    extent: int
    rounds: int
    cells: list[str]
    trial: bool
    """True to try MPI_Alltoallw once in each cell and report its start, so that the driver can abort a slow one."""
    skip: list[str]
    """Cells in which MPI_Alltoallw is not measured."""
    limit: float
    """Seconds after which a rank ends itself if the driver is gone."""
