"""The cases of `plait bench shared`, and the job that its driver passes to the ranks."""

from __future__ import annotations

from dataclasses import dataclass

from plait_bench.job import SavedJob

READ, WRITE = "read", "write"
KINDS = (READ, WRITE)
# The locations of the file.
SHARED = "shared"  # Shared Files: striped over the disks of all hosts
SERVED = "served"  # one file on the disk of the first host, which serves the others
LOCATIONS = (SHARED, SERVED)


@dataclass(frozen=True)
class SharedJob(SavedJob):
    """The work of one run of the rank program."""

    folder: str
    """Folder on each host's own disk."""
    hosts: list[int]
    """How many hosts to measure with, one after another; empty: 1, 2, 4 … and all hosts."""
    bytes: int
    """Bytes that the ranks of each host read or write in a measurement."""
    request: int
    """Bytes of a request, and of a stripe."""
    ahead: int
    """Number of requests that a rank has in flight at a time."""
    rounds: int
    """How often everything is measured."""
    limit: float
    """Seconds after which a rank ends itself if the driver is gone."""
