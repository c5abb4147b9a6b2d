"""What `plait bench columbus` measures, and what its driver tells the ranks."""

from __future__ import annotations

from dataclasses import dataclass

from plait_bench.job import SavedJob

# Where the records lie.
SHARED = "shared"  # Shared Files: in stripes over files of all ranks
ONE = "one"  # one ordinary file of rank 0
WAYS = (SHARED, ONE)


@dataclass(frozen=True)
class ColumbusJob(SavedJob):
    """The work of one run of the rank program."""

    scratch: str
    """Folder of the tasks, which all ranks see."""
    folder: str
    """Folder of the records: on each rank's own disk, or seen by all."""
    records: int
    size: int
    """Bytes of a record, on average."""
    memory: int
    """Bytes of the page cache that the records may take on a node."""
    rounds: int
    limit: float
    """Seconds after which a rank ends itself, should the driver be gone."""
