"""The directory of the records of `plait bench columbus`: where each record is in the file, and how long it is.

Each rank has a copy of the directory and changes it; after Changes.exchange() all copies are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

Numbers = npt.NDArray[np.int64]

_ALIGNMENT = 512  # bytes; offsets and capacities are multiples of it
_GROWTH = 1.2  # the factor by which a record may grow before it is moved to another offset


@dataclass(eq=False)
class Directory:
    """Offset, size, capacity and version of each record of a file; all but the version are in bytes.

    A record keeps its offset while it fits into its capacity. A record that outgrows its capacity moves to the end of
    the file and gets the capacity of the largest possible record. These slots at the end belong to the ranks in turn:
    with 4 ranks, rank 1 allocates slots 1, 5, 9 …, so that ranks need not communicate.
    """

    offset: Numbers
    size: Numbers
    capacity: Numbers
    version: Numbers

    @classmethod
    def of_sizes(cls, sizes: Sequence[int]) -> Directory:
        """Arrange records of these sizes one after the other."""
        size = np.array(sizes, np.int64)
        capacity = -(-np.ceil(size * _GROWTH).astype(np.int64) // _ALIGNMENT) * _ALIGNMENT
        return cls(np.cumsum(capacity) - capacity, size, capacity, np.zeros_like(size))

    @property
    def end(self) -> int:
        """The offset after the last slot."""
        return int((self.offset + self.capacity).max(initial=0))


class Changes:
    """The changes that one rank makes to a directory between two calls of exchange()."""

    def __init__(self, directory: Directory, max_bytes: int, comm: MPI.Intracomm) -> None:
        """`max_bytes` is the maximum size of a record."""
        self._directory, self._comm = directory, comm
        self._slot_bytes = -(-max_bytes // _ALIGNMENT) * _ALIGNMENT
        self._next_offset = directory.end + comm.rank * self._slot_bytes
        self._changed = np.zeros(directory.size.size, np.int64)
        self.moved = 0

    def allocate_record(self, record: int, size: int) -> int:
        """Record the new size of a record, move it if it has outgrown its capacity, and return its offset."""
        directory = self._directory
        if size > directory.capacity[record]:
            directory.offset[record], directory.capacity[record] = self._next_offset, self._slot_bytes
            self._next_offset += self._comm.size * self._slot_bytes
            self.moved += 1
        directory.size[record] = size
        directory.version[record] += 1
        self._changed[record] += 1
        return int(directory.offset[record])

    def exchange(self) -> Numbers:
        """Exchange the changes; return how often each record was changed.  Collective."""
        change_counts = np.empty_like(self._changed)
        self._comm.Allreduce(self._changed, change_counts)
        for field in fields(Directory):
            values = getattr(self._directory, field.name)
            changed_here = np.where(self._changed > 0, values, 0)
            merged = np.empty_like(changed_here)
            self._comm.Allreduce(changed_here, merged)
            # The sum is right only if a single rank has changed the record.  The caller finds a record that several
            # ranks have changed by its count, which is then above 1.
            np.copyto(values, merged, where=change_counts > 0)
        return change_counts
