"""The job that the driver of `plait bench small` passes to its ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plait_bench.job import SavedJob

# The methods of access: Plait, and the libraries with which it is compared.
PLAIT = "Plait"
MPI_IO = "MPI-IO"
RENAMED = "MPI-IO, renamed"
"""A write to a new file that replaces the former one by a rename, as Plait's does."""
NUMPY = "NumPy"
H5PY = "h5py"
ZARR = "zarr-python"

# The accesses.
READ = "open, read, close"
AGAIN = "read again"
"""A further read of a file that stays open."""
WRITE = "open, write, close"
SYNCED = "open, write, sync, close"
SLICE = "slice of a row"

CONTIGUOUS = "(block, *)"
BLOCKS = "(block, block)"


@dataclass(frozen=True)
class SmallCase:
    """One access to a square of doubles in one kind of file, by Plait and by others."""

    access: str
    edge: int
    ranks: int
    dist: str = CONTIGUOUS
    file: str = "npy"
    """The suffix of the file: npy, h5 (contiguous), gzip.h5 or gzip.zarr; the last two have compressed chunks."""

    @property
    def others(self) -> tuple[str, ...]:
        """The methods with which Plait is compared."""
        if self.file == "gzip.zarr":
            return (ZARR,)
        if self.file != "npy":
            return (H5PY,)
        if self.access == SLICE:
            return (NUMPY,)
        by_mpi = (MPI_IO, RENAMED) if self.access in (WRITE, SYNCED) else (MPI_IO,)
        return (*by_mpi, NUMPY) if self.ranks == 1 else by_mpi

    @property
    def grid(self) -> tuple[int, ...]:
        """The grid of the ranks: as square as possible for blocks."""
        if self.dist == CONTIGUOUS:
            return (self.ranks,)
        rows = max(rows for rows in range(1, self.ranks + 1) if self.ranks % rows == 0 and rows * rows <= self.ranks)
        return rows, self.ranks // rows

    @property
    def layout(self) -> str:
        """The layout in Plait's notation."""
        return f"{self.edge}x{self.edge} {self.dist} onto ({', '.join(map(str, self.grid))})"


@dataclass(frozen=True)
class SmallJob(SavedJob):
    """The cases of one number of ranks."""

    cases: list[SmallCase]
    folder: str
    rounds: int
    sampling_seconds: float
    """Seconds after which a case gets no more rounds."""
    limit: float

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> SmallJob:
        """Return the job with these fields, which were read from JSON."""
        return cls(**{**fields, "cases": [SmallCase(**case) for case in fields["cases"]]})


def make_cases(ranks: int, edges: tuple[int, ...]) -> list[SmallCase]:
    """Return the cases of one number of ranks; slices are read by one process only."""
    cases = []
    for edge in edges:
        for dist in (CONTIGUOUS, BLOCKS) if ranks > 1 else (CONTIGUOUS,):
            cases += [SmallCase(access, edge, ranks, dist) for access in (READ, AGAIN, WRITE, SYNCED)]
        if ranks == 1:
            cases += [SmallCase(access, edge, 1, CONTIGUOUS, "h5") for access in (READ, AGAIN)]
            cases += [SmallCase(SLICE, edge, 1, CONTIGUOUS, file) for file in ("npy", "h5", "gzip.h5", "gzip.zarr")]
    return cases
