"""What the benchmark's driver tells its ranks, and how they report back: lines of JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

Operation = Literal["read", "write"]

# The accesses that are measured.
OPTIMAL = "optimal"  # the file's conforming layout
REDISTRIBUTION = "redistribution"  # between the conforming layout and the wanted one, in memory
TOTAL = "total"  # the wanted layout, strategy chosen by Plait
DIRECT = "direct"  # the wanted layout, each rank its own runs
MPI_IO = "mpi-io"  # the wanted layout, by darray file type and collective calls


@dataclass(frozen=True)
class Case:
    """One array, read or written."""

    dtype: str
    extent: int
    operation: Operation

    @property
    def title(self) -> str:
        """The case in words."""
        noun = {"float64": "doubles", "uint8": "bytes"}[self.dtype]
        verb = "Reading" if self.operation == "read" else "Writing"
        return f"{verb} {self.extent} x {self.extent} {noun}"


@dataclass(frozen=True)
class Job:
    """The work of one run of the rank program."""

    case: Case
    path: str
    cells: list[str]
    rounds: int
    trial: bool
    """Measure each access just once, telling before each, so that the driver can end one that takes too long."""
    accesses: list[str]
    skip: list[tuple[str, str]]
    """(cell, access) that are not measured, for they were tried already or take too long."""
    limit: float
    """Seconds after which a rank ends itself, should the driver be gone."""

    def save(self, path: Path) -> None:
        """Write the job where the ranks find it."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @staticmethod
    def load(path: Path) -> Job:
        """Read a job that `save` wrote."""
        fields: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        fields["case"] = Case(**fields["case"])
        fields["skip"] = [(cell, access) for cell, access in fields["skip"]]
        return Job(**fields)


def report(event: str, **fields: Any) -> None:
    """Tell the driver something.  Only one rank reports."""
    print(json.dumps({"event": event, **fields}), flush=True)
