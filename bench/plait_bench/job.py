"""The jobs that the benchmarks' drivers pass to their ranks.

A driver is the process that prints the results; the ranks are MPI processes that it starts for the measurements.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

Operation = Literal["read", "write"]

# The measured accesses.  Under the conforming layout each rank has one contiguous range of the file.
OPTIMAL = "optimal"  # the file's conforming layout
REDISTRIBUTION = "redistribution"  # between the conforming layout and the requested one, in memory
TOTAL = "total"  # the requested layout, with the strategy that Plait chooses
DIRECT = "direct"  # the requested layout, each rank reading or writing its own runs
FORTRAN = "fortran"  # as TOTAL, by pread and pwrite from Fortran
MPI_IO = "mpi-io"  # the requested layout, by darray file type and collective calls
PLAIN = "plain"  # the whole file from its beginning to its end, by one rank
DISK = "disk"  # like PLAIN, but without the page cache: the rate of the disk


@dataclass(frozen=True)
class Case:
    """One array, read or written."""

    dtype: str
    extent: int
    operation: Operation

    @property
    def title(self) -> str:
        """A description of the case."""
        noun = {"float64": "doubles", "uint8": "bytes"}[self.dtype]
        verb = "Reading" if self.operation == "read" else "Writing"
        return f"{verb} {self.extent} x {self.extent} {noun}"


AnyJob = TypeVar("AnyJob", bound="SavedJob")


@dataclass(frozen=True)
class SavedJob:
    """A job that a driver writes to a file for its ranks."""

    def save(self, path: Path) -> None:
        """Write the job to the file that the ranks read."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def load(cls: type[AnyJob], path: Path) -> AnyJob:
        """Read a job that `save` wrote."""
        return cls.from_fields(json.loads(path.read_text(encoding="utf-8")))

    @classmethod
    def from_fields(cls: type[AnyJob], fields: dict[str, Any]) -> AnyJob:
        """Return the job with these fields, which were read from JSON."""
        return cls(**fields)


@dataclass(frozen=True)
class Conditions:
    """The conditions of accesses."""

    memory: str | int = 0
    """Bytes per rank for windows, as in `plait.open`; 0 for the default."""
    cold: bool = False
    """True to drop the file from the page cache before each access."""


USUAL = Conditions()
"""The default memory limit, with the file in the page cache."""


@dataclass(frozen=True)
class Job(SavedJob):
    """The work of one run of the rank program."""

    case: Case
    path: str
    cells: list[str]
    rounds: int
    trial: bool
    """Measure each access only once and report its start, so that the driver can abort one that takes too long."""
    accesses: list[str]
    skip: list[tuple[str, str]]
    """Pairs (cell, access) that are skipped, because they were already tried or take too long."""
    limit: float
    """Seconds after which a rank ends itself if the driver is gone."""
    conditions: Conditions = USUAL

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Job:
        """Return the job with these fields."""
        fields["case"] = Case(**fields["case"])
        fields["conditions"] = Conditions(**fields["conditions"])
        fields["skip"] = [(cell, access) for cell, access in fields["skip"]]
        return cls(**fields)
