"""The cells of `plait bench pipe`, and the settings that its driver passes to the ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import plait
from plait_bench.cells import near_square
from plait_bench.job import SavedJob

# The measurements of a cell.
PIPE = "pipe"  # steps through a pipe, from the writers' arrays to the readers' arrays
BOUND = "bound"  # the same bytes as contiguous stretches, through shared memory or a TCP stream
FILE = "file"  # the same transfer through a file, by Plait
MPI_IO = "mpi-io"  # the same transfer through a file, by MPI-IO
SST = "sst"  # the same steps by ADIOS2's SST, from one process to another

TRANSFERS = (PIPE, BOUND, FILE, MPI_IO, SST)
SMALL = 512  # elements of 8 bytes that each rank has in a small step

ROW, COLUMN, BLOCK, CYCLIC = ("block", "*"), ("*", "block"), ("block", "block"), ("cyclic(8)", "cyclic(8)")


@dataclass(frozen=True)
class Cell:
    """One pair of layouts, which makes one row of the table: the distributions at both ends, and the local orders."""

    name: str
    source: tuple[str, str]
    target: tuple[str, str]
    orders: tuple[str, str] = ("C", "C")

    @property
    def has_equal_layouts(self) -> bool:
        """True if both ends have the same layout, given equal numbers of ranks."""
        return self.source == self.target and self.orders[0] == self.orders[1]

    def layouts(self, extent: int, writers: int, readers: int) -> tuple[plait.Layout, plait.Layout]:
        """Return the two layouts of a square array."""
        ends = ((self.source, writers, self.orders[0]), (self.target, readers, self.orders[1]))
        layouts = [plait.Layout((extent, extent), list(dist), grid=make_grid(dist, ranks), order=order)
                for dist, ranks, order in ends]  # fmt: skip
        return layouts[0], layouts[1]


def make_grid(dist: tuple[str, str], ranks: int) -> tuple[int, ...]:
    """Return the numbers of ranks along the distributed dimensions."""
    return (ranks,) if "*" in dist else near_square(ranks)


CELLS = (
    Cell("row to row", ROW, ROW),
    Cell("column to column", COLUMN, COLUMN),
    Cell("block to block", BLOCK, BLOCK),
    Cell("row to column", ROW, COLUMN),
    Cell("row to block", ROW, BLOCK),
    Cell("cyclic(8) to block", CYCLIC, BLOCK),
    Cell("C order to F order", ROW, ROW, ("C", "F")),
)
"""The cells of table I of DeBenedictis & del Rosario 1993, and two cells with more expensive conversions."""

SIDES = ((1, 1), (2, 2), (4, 4), (6, 6), (4, 1), (1, 4), (3, 2))
"""Pairs of the writer's and the reader's number of ranks."""


def find_cell(name: str) -> Cell:
    """Return the cell with a name."""
    return next(cell for cell in CELLS if cell.name == name)


@dataclass(frozen=True)
class PipeJob(SavedJob):
    """The work of one run of the rank program: writers and readers are ranks of one job."""

    extent: int
    dtype: str
    writers: int
    readers: int
    rounds: int
    steps: int
    """Steps of one measurement."""
    small: int
    """Round trips of small steps; 0: small steps are not measured."""
    cells: list[str]
    transfers: list[str]
    folder: str
    limit: float
    """Seconds after which a rank ends itself if the driver is gone."""

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> PipeJob:
        """Return the job with these fields."""
        return cls(**fields)
