"""The directory of the records of `plait bench columbus`, the same on every rank after each synchronization."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

Numbers = npt.NDArray[np.int64]

_GRAIN = 512
_SPARE = 1.2  # the factor by which a record may grow before it has to move


@dataclass(eq=False)
class Directory:
    """Offset, bytes, capacity and version of each record of a file.

    A record stays where it is while its bytes fit into its capacity. A record that outgrows it moves to the end of the
    file, with the capacity of the largest possible record. Slots at the end are distributed over the ranks in turn, so
    that ranks need not communicate.
    """

    offset: Numbers
    size: Numbers
    capacity: Numbers
    version: Numbers

    @classmethod
    def of_sizes(cls, sizes: Sequence[int]) -> Directory:
        """Arrange records of these sizes one after the other."""
        size = np.array(sizes, np.int64)
        capacity = -(-np.ceil(size * _SPARE).astype(np.int64) // _GRAIN) * _GRAIN
        return cls(np.cumsum(capacity) - capacity, size, capacity, np.zeros_like(size))

    @property
    def end(self) -> int:
        """The end of the last capacity."""
        return int((self.offset + self.capacity).max(initial=0))


class Changes:
    """The changes of one rank in a directory until the ranks synchronize."""

    def __init__(self, directory: Directory, most: int, comm: MPI.Intracomm) -> None:
        """`most` is the maximum bytes of a record."""
        self._directory, self._comm = directory, comm
        self._stride = -(-most // _GRAIN) * _GRAIN
        self._next = directory.end + comm.rank * self._stride
        self._changed = np.zeros(directory.size.size, np.int64)
        self.moved = 0

    def allocate_record(self, record: int, size: int) -> int:
        """Record the new size of a record, and return its offset."""
        directory = self._directory
        if size > directory.capacity[record]:
            directory.offset[record], directory.capacity[record] = self._next, self._stride
            self._next += self._comm.size * self._stride
            self.moved += 1
        directory.size[record] = size
        directory.version[record] += 1
        self._changed[record] += 1
        return int(directory.offset[record])

    def share(self) -> Numbers:
        """Exchange the changes; return how often each record was changed.  Collective."""
        times = np.empty_like(self._changed)
        self._comm.Allreduce(self._changed, times)
        for field in fields(Directory):
            values = getattr(self._directory, field.name)
            mine = np.where(self._changed > 0, values, 0)
            everyone = np.empty_like(mine)
            self._comm.Allreduce(mine, everyone)
            # A record that several ranks changed is an error of the caller, which is visible in `times`.
            np.copyto(values, everyone, where=times > 0)
        return times
