"""The accesses of `plait bench overlap`, and the job that its driver passes to the ranks."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

# The three measurements of an access.
IO = "io"  # start the access and wait for it at once
COMPUTE = "compute"  # the computation alone
BOTH = "both"  # start the access, compute, and then wait for the access
MEASUREMENTS = (IO, COMPUTE, BOTH)


@dataclass(frozen=True)
class Access:
    """One kind of access to a rank's part of a file, which the rank makes while it computes."""

    name: str
    collective: bool
    """True if the access is collective; otherwise it uses a stream of mode 0."""
    write: bool


ACCESSES = (
    Access("collective read", collective=True, write=False),
    Access("independent read", collective=False, write=False),
    Access("collective write", collective=True, write=True),
    Access("independent write", collective=False, write=True),
)


@dataclass(frozen=True)
class OverlapJob:
    """The work of one run of the rank program."""

    path: str
    bytes: int
    """Bytes of the whole file: doubles, the same number on each rank."""
    rounds: int
    limit: float
    """Seconds after which a rank ends itself if the driver is gone."""

    def save(self, path: Path) -> None:
        """Write the job to the file that the ranks read."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @staticmethod
    def load(path: Path) -> OverlapJob:
        """Read a job that `save` wrote."""
        fields: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return OverlapJob(**fields)
