"""What `plait bench distant` measures, and what its driver tells the ranks."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

LOCAL, REMOTE = "local", "remote"
READ, WRITE = "read", "write"
# Times of one small access, in the page cache.
LATENCIES = ("bare round trip", "local read", "remote read", "local write", "remote write")
SMALL = 4096


@dataclass(frozen=True)
class Cell:
    """One point of a figure."""

    where: str
    kind: str
    size: int
    """Of a request, in bytes."""
    ahead: int
    """Requests under way at a time."""


@dataclass(frozen=True)
class DistantJob:
    """The work of one run of the rank program."""

    folders: list[str]
    """Of the disk of each rank; the last one stands for those behind it."""
    bytes: int
    """Moved by each measurement of a rate."""
    sizes: list[int]
    ahead: list[int]
    rounds: int
    limit: float
    """Seconds after which a rank ends itself, should the driver be gone."""

    def cells(self) -> list[Cell]:
        """Return all points, local and remote side by side."""
        return [
            Cell(where, kind, size, ahead)
            for kind in (READ, WRITE)
            for ahead in self.ahead
            for size in self.sizes
            for where in (LOCAL, REMOTE)
        ]

    def save(self, path: Path) -> None:
        """Write the job where the ranks find it."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @staticmethod
    def load(path: Path) -> DistantJob:
        """Read a job that `save` wrote."""
        fields: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return DistantJob(**fields)
