"""Where the records of `plait bench columbus` lie: the same on every rank whenever all have met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

Numbers = npt.NDArray[np.int64]

_GRAIN = 512
_SPARE = 1.2  # of a record's first size: what it may grow until it has to move


@dataclass(eq=False)
class Directory:
    """Offset, bytes, room and version of each record of a file.

    A record stays where it is while its bytes fit into its room. One that outgrows it moves behind all others, into
    room for the largest record that there can be. Its slots are distributed over the ranks in turn, so that none asks.
    """

    offset: Numbers
    size: Numbers
    room: Numbers
    version: Numbers

    @classmethod
    def of_sizes(cls, sizes: Sequence[int]) -> Directory:
        """Lay records of these bytes one behind the other."""
        size = np.array(sizes, np.int64)
        room = -(-np.ceil(size * _SPARE).astype(np.int64) // _GRAIN) * _GRAIN
        return cls(np.cumsum(room) - room, size, room, np.zeros_like(size))

    @property
    def end(self) -> int:
        """One past the last room."""
        return int((self.offset + self.room).max(initial=0))


class Changes:
    """What one rank changes in a directory until all ranks meet."""

    def __init__(self, directory: Directory, most: int, comm: MPI.Intracomm) -> None:
        """`most` is the bytes that a record may have."""
        self._directory, self._comm = directory, comm
        self._step = -(-most // _GRAIN) * _GRAIN
        self._next = directory.end + comm.rank * self._step
        self._changed = np.zeros(directory.size.size, np.int64)
        self.moved = 0

    def offset_of(self, record: int, size: int) -> int:
        """Note that a record has so many bytes now, and return where they belong."""
        directory = self._directory
        if size > directory.room[record]:
            directory.offset[record], directory.room[record] = self._next, self._step
            self._next += self._comm.size * self._step
            self.moved += 1
        directory.size[record] = size
        directory.version[record] += 1
        self._changed[record] += 1
        return int(directory.offset[record])

    def share(self) -> Numbers:
        """Tell all ranks; return how often each record was changed.  Collective."""
        times = np.empty_like(self._changed)
        self._comm.Allreduce(self._changed, times)
        for field in fields(Directory):
            values = getattr(self._directory, field.name)
            mine = np.where(self._changed > 0, values, 0)
            everyone = np.empty_like(mine)
            self._comm.Allreduce(mine, everyone)
            # One that several ranks changed is an error of the caller's, who sees it in `times`.
            np.copyto(values, everyone, where=times > 0)
        return times
