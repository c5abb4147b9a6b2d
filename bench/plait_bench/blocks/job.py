"""The cases of `plait bench blocks`, and the job that its driver passes to the ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plait.model import even_grid
from plait_bench.job import SavedJob

PLAIT = "plait"
MPI_IO = "mpi-io"
LIBRARIES = (PLAIT, MPI_IO)
GAP = 2
"""Elements, of 8 bytes each, between the rows of a local array with gaps."""


@dataclass(frozen=True)
class Blocks:
    """An array of doubles in C order that is divided into one block per rank."""

    shape: tuple[int, ...]

    @property
    def name(self) -> str:
        """The extents of the array."""
        return "x".join(map(str, self.shape))

    def grid(self, ranks: int) -> tuple[int, ...]:
        """Return the numbers of ranks along the dimensions: as equal as possible, the largest last."""
        return even_grid(ranks, len(self.shape))[::-1]

    def run_bytes(self, ranks: int) -> int:
        """Return the bytes of a run: a contiguous part of the file that belongs to one rank."""
        run = 8
        for extent, parts in zip(reversed(self.shape), reversed(self.grid(ranks)), strict=True):
            run *= -(-extent // parts)
            if parts > 1:
                break
        return run


def make_arrays(megabytes: int) -> tuple[Blocks, ...]:
    """Return arrays of three and four dimensions, of `megabytes` MiB each."""
    return Blocks((megabytes, 256, 512)), Blocks((megabytes, 8, 32, 512))


@dataclass(frozen=True)
class BlocksJob(SavedJob):
    """The work of one run of the rank program."""

    path: str
    shapes: list[tuple[int, ...]]
    rounds: int
    limit: float
    """Seconds after which a rank ends itself if the driver is gone."""

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> BlocksJob:
        """Return the job with these fields."""
        fields["shapes"] = [tuple(shape) for shape in fields["shapes"]]
        return cls(**fields)
