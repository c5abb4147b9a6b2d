"""The same bytes from writers to readers, contiguous: one copy into memory that both see and one out of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

_SLOTS = 2


class Contiguous:
    """Each writer has an equal stretch of the bytes and each reader as well; who shares bytes tells each other."""

    def __init__(self, comm: MPI.Intracomm, writers: int, size: int) -> None:
        """`size`: bytes of all together.  The first `writers` ranks write."""
        self._comm, self._writers = comm, writers
        readers = comm.size - writers
        mine = size * _SLOTS if comm.rank == 0 else 0
        self._window: Any = MPI.Win.Allocate_shared(mine, 1, comm=comm)
        shared: Any = self._window.Shared_query(0)[0]
        memory = np.frombuffer(shared, np.uint8)
        self._slots = memory[: size * _SLOTS].reshape(_SLOTS, size)
        cuts = [[size * i // ends for i in range(ends + 1)] for ends in (writers, readers)]
        self._writes = comm.rank < writers
        own, other = cuts if self._writes else cuts[::-1]
        number = comm.rank if self._writes else comm.rank - writers
        self._part = slice(own[number], own[number + 1])
        first = writers if self._writes else 0
        self._partners = [
            first + i
            for i in range(len(other) - 1)
            if max(other[i], self._part.start) < min(other[i + 1], self._part.stop)
        ]
        self.array: npt.NDArray[np.uint8] = np.ones(self._part.stop - self._part.start, np.uint8)

    def run(self, steps: int) -> None:
        """Move all bytes so many times."""
        for step in range(steps):
            slot = self._slots[step % _SLOTS][self._part]
            if not self._writes or step >= _SLOTS:
                self._hear()
            if self._writes:
                np.copyto(slot, self.array)
            else:
                np.copyto(self.array, slot)
            if self._writes or step < steps - _SLOTS:
                self._tell()

    def _tell(self) -> None:
        for partner in self._partners:
            self._comm.Send([None, 0, MPI.BYTE], partner, 1)

    def _hear(self) -> None:
        for partner in self._partners:
            self._comm.Recv([None, 0, MPI.BYTE], partner, 1)

    def free(self) -> None:
        """Let the memory go.  Collective."""
        del self._slots
        self._window.Free()
