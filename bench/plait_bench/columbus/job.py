"""The cases of `plait bench columbus`, and the job that its driver passes to the ranks."""

from __future__ import annotations

from dataclasses import dataclass

from plait_bench.job import SavedJob

# The locations of the records.
SHARED = "shared"  # Shared Files: striped over component files of all ranks
ORDINARY = "one"  # one ordinary file of rank 0
LOCATIONS = (SHARED, ORDINARY)


@dataclass(frozen=True)
class ColumbusJob(SavedJob):
    """The work of one run of the rank program."""

    scratch: str
    """Folder of the task lists, which all ranks can access."""
    folder: str
    """Folder of the records: on each rank's own disk, or shared by all ranks."""
    records: int
    size: int
    """Mean bytes of a record."""
    memory: int
    """Bytes of the page cache that the records may occupy on a node."""
    rounds: int
    limit: float
    """Seconds after which a rank ends itself if the driver is gone."""
