"""The cases of `plait bench distant`, and the job that its driver passes to the ranks."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

# The locations of a file: on the rank's own disk, on the disk of another rank of the node, on that of another node.
LOCAL, NEIGHBOUR, REMOTE = "local", "same node", "remote"
READ, WRITE = "read", "write"
# The kinds of small accesses, in the page cache: location and kind, or a request that moves no bytes of a file.
LATENCIES = (
    "bare round trip",
    "local read",
    "same node read",
    "remote read",
    "local write",
    "same node write",
    "remote write",
)
SMALL_BYTES = 4096
"""Bytes of a small access."""


@dataclass(frozen=True)
class Cell:
    """One point of a figure: sequential reads or writes of a file."""

    where: str
    """The location of the file."""
    kind: str
    size: int
    """Bytes of a request."""
    ahead: int
    """Number of requests in flight at a time."""


@dataclass(frozen=True)
class DistantJob:
    """The work of one run of the rank program."""

    folders: list[str]
    """The folder on the disk of each rank; the last one is used for all further ranks."""
    bytes: int
    """Bytes that each measurement of a rate moves."""
    sizes: list[int]
    ahead: list[int]
    rounds: int
    limit: float
    """Seconds after which a rank ends itself if the driver is gone."""

    def cells(self) -> list[Cell]:
        """Return all points; those of one size follow each other."""
        return [
            Cell(where, kind, size, ahead)
            for kind in (READ, WRITE)
            for ahead in self.ahead
            for size in self.sizes
            for where in (LOCAL, NEIGHBOUR, REMOTE)
        ]

    def save(self, path: Path) -> None:
        """Write the job to the file that the ranks read."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @staticmethod
    def load(path: Path) -> DistantJob:
        """Read a job that `save` wrote."""
        fields: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return DistantJob(**fields)
