"""The bound of a pipe: the time in which the same bytes go from writers to readers as contiguous stretches.

Inside a host, they are copied into shared memory and out of it. Between hosts, one TCP stream carries them.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

_SLOTS = 2  # steps that the shared memory holds, so that writers fill one while readers empty the other


class Bound(Protocol):
    """A lower bound of the time of a pipe."""

    def run(self, steps: int) -> None:
        """Move all bytes `steps` times."""

    def free(self) -> None:
        """Release all resources. Collective."""


def make_bound(comm: MPI.Intracomm, writers: int, size: int, folder: Path) -> Bound:
    """Return the bound for ranks of one host or of several hosts. `folder` is for the FIFOs of _Tokens. Collective."""
    node = comm.Split_type(MPI.COMM_TYPE_SHARED)
    inside = node.size == comm.size
    node.Free()
    one_host = bool(comm.allreduce(inside, op=MPI.LAND))
    return Contiguous(comm, writers, size, folder) if one_host else TcpStream(comm, writers, size)


class _Tokens:
    """Lets ranks wake each other through FIFOs: a waiting rank sleeps in the kernel and uses no core."""

    def __init__(self, comm: MPI.Intracomm, folder: Path) -> None:
        # FIFO r receives the number of each rank that wakes rank r.  `_pending` counts the wake-ups by each rank that
        # wait_for() has not consumed yet.
        self._comm, self._pending = comm, [0] * comm.size
        paths = [folder / f"wake-{rank}" for rank in range(comm.size)]
        os.mkfifo(paths[comm.rank])
        comm.Barrier()
        self._fifos = [os.open(path, os.O_RDWR) for path in paths]
        comm.Barrier()
        paths[comm.rank].unlink()

    def wake(self, rank: int) -> None:
        os.write(self._fifos[rank], bytes([self._comm.rank]))

    def wait_for(self, rank: int) -> None:
        while self._pending[rank] == 0:
            for sender in os.read(self._fifos[self._comm.rank], 64):
                self._pending[sender] += 1
        self._pending[rank] -= 1

    def close(self) -> None:
        for fifo in self._fifos:
            os.close(fifo)


class Contiguous:
    """Copies through shared memory: each writer has an equal part of the bytes, and so has each reader.

    A writer and a reader whose parts overlap are partners. A reader waits until all its partners have filled a slot,
    and a writer refills a slot when all its partners have read it.
    """

    def __init__(self, comm: MPI.Intracomm, writers: int, size: int, folder: Path) -> None:
        """`size` is the number of bytes of all writers together.  The first `writers` ranks write.  Collective."""
        self._tokens = _Tokens(comm, folder)
        readers = comm.size - writers
        window_bytes = size * _SLOTS if comm.rank == 0 else 0
        self._window: Any = MPI.Win.Allocate_shared(window_bytes, 1, comm=comm)
        shared: Any = self._window.Shared_query(0)[0]
        memory = np.frombuffer(shared, np.uint8)
        self._slots = memory[: size * _SLOTS].reshape(_SLOTS, size)
        boundaries = [[size * i // ends for i in range(ends + 1)] for ends in (writers, readers)]
        self._writes = comm.rank < writers
        own_boundaries, partner_boundaries = boundaries if self._writes else boundaries[::-1]
        number = comm.rank if self._writes else comm.rank - writers
        self._part = slice(own_boundaries[number], own_boundaries[number + 1])
        first_partner = writers if self._writes else 0
        self._partners = [
            first_partner + i
            for i in range(len(partner_boundaries) - 1)
            if max(partner_boundaries[i], self._part.start) < min(partner_boundaries[i + 1], self._part.stop)
        ]
        self.array: npt.NDArray[np.uint8] = np.ones(self._part.stop - self._part.start, np.uint8)

    def run(self, steps: int) -> None:
        """Move all bytes `steps` times."""
        for step in range(steps):
            slot = self._slots[step % _SLOTS][self._part]
            if not self._writes or step >= _SLOTS:
                self._wait_for_partners()
            if self._writes:
                np.copyto(slot, self.array)
            else:
                np.copyto(self.array, slot)
            if self._writes or step < steps - _SLOTS:
                self._notify_partners()

    def _notify_partners(self) -> None:
        for partner in self._partners:
            self._tokens.wake(partner)

    def _wait_for_partners(self) -> None:
        for partner in self._partners:
            self._tokens.wait_for(partner)

    def free(self) -> None:
        """Release the memory.  Collective."""
        self._tokens.close()
        del self._slots
        self._window.Free()


class TcpStream:
    """The first rank sends all bytes to the last rank, step by step, through one connection."""

    def __init__(self, comm: MPI.Intracomm, writers: int, size: int) -> None:
        """Connect the two ranks; the arguments are those of Contiguous. All other ranks do nothing."""
        self._sends, self._receives = comm.rank == 0, comm.rank == comm.size - 1
        self._bytes = bytearray(size if self._sends or self._receives else 0)
        self._socket: socket.socket | None = None
        if self._receives:
            with socket.create_server(("", 0)) as server:
                comm.send((socket.gethostname(), server.getsockname()[1]), 0, 2)
                self._socket = server.accept()[0]
        elif self._sends:
            self._socket = socket.create_connection(comm.recv(source=comm.size - 1, tag=2))

    def run(self, steps: int) -> None:
        """Move all bytes `steps` times."""
        if self._socket is None:
            return
        for _ in range(steps):
            if self._sends:
                self._socket.sendall(self._bytes)
                continue
            unread = memoryview(self._bytes)
            while unread:
                count = self._socket.recv_into(unread)
                if count == 0:
                    raise OSError("the writer has ended")
                unread = unread[count:]

    def free(self) -> None:
        """Close the connection."""
        if self._socket is not None:
            self._socket.close()
