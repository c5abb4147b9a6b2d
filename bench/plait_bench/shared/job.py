"""What `plait bench shared` measures, and what its driver tells the ranks."""

from __future__ import annotations

from dataclasses import dataclass

from plait_bench.job import SavedJob

READ, WRITE = "read", "write"
KINDS = (READ, WRITE)
# Where the file lies.
SHARED = "shared"  # Shared Files: in stripes over the disks of all hosts
SERVED = "served"  # one file on the disk of the first host, as of a server
WAYS = (SHARED, SERVED)


@dataclass(frozen=True)
class SharedJob(SavedJob):
    """The work of one run of the rank program."""

    folder: str
    """Of each host's own disk."""
    hosts: list[int]
    """Numbers of hosts that take part; none: 1, 2, 4 … and all that there are."""
    bytes: int
    """Moved by the ranks of each host in a measurement."""
    request: int
    ahead: int
    """Requests of a rank under way at a time."""
    rounds: int
    limit: float
    """Seconds after which a rank ends itself, should the driver be gone."""
