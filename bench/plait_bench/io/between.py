"""Measurements of `plait bench io` between hosts: the bytes that cross their links, and the rate of MPI."""

from __future__ import annotations

import os
import statistics
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

import plait

_MESSAGE = 1 << 20
_BYTES = 1 << 25
"""Maximum bytes that each host sends at a time while the bare rate is measured; fewer ..."""
_SECONDS = 0.5
"""... if that would take more than this number of seconds."""
_REPEATS = 3


class Hosts:
    """The hosts of the ranks, on one rank.  Collective."""

    def __init__(self, comm: MPI.Intracomm) -> None:
        """Number them in the order of their first ranks; PLAIT_NODE_SIZE makes several of one, as for Plait."""
        self._comm = comm
        size = int(os.environ.get("PLAIT_NODE_SIZE", "0") or "0")
        node = comm.Split_type(MPI.COMM_TYPE_SHARED)
        mine = (node.bcast(comm.rank), node.rank // size if size > 0 else 0)
        node.Free()
        everyone = comm.allgather(mine)
        numbers = {host: number for number, host in enumerate(dict.fromkeys(everyone))}
        self.of_rank = [numbers[host] for host in everyone]
        """The host of each rank."""
        self.count = len(numbers)
        self._first = self.of_rank.index(self.of_rank[comm.rank]) == comm.rank

    def carried(self) -> npt.NDArray[np.int64]:
        """Return the bytes that this host has received and sent so far; zeros on ranks that do not speak for it."""
        total = np.zeros(2, np.int64)
        if not self._first:
            return total
        lines = Path("/proc/self/net/dev").read_text(encoding="utf-8").splitlines()[2:]
        for name, _, numbers in (line.partition(":") for line in lines):
            if name.strip() != "lo":
                words = numbers.split()
                total += np.array([int(words[0]), int(words[8])], np.int64)
        return total

    def most(self, since: npt.NDArray[np.int64]) -> int:
        """Return the bytes that the busiest link has carried one way since then.  Collective."""
        grown = self.carried() - since
        self._comm.Allreduce(MPI.IN_PLACE, grown, op=MPI.MAX)
        return int(grown.max())

    def least(self, held: plait.Layout, wanted: plait.Layout, itemsize: int) -> int:
        """Return the minimum bytes that the busiest link carries in one direction, from one layout to another.

        For each host, these are the bytes that it holds and other hosts need, or the reverse.
        """
        sides = [[layout.indices(rank) for rank in range(self._comm.size)] for layout in (held, wanted)]
        between = np.zeros((self.count, self.count), np.int64)
        for giver, have in enumerate(sides[0]):
            for taker, want in enumerate(sides[1]):
                if self.of_rank[giver] != self.of_rank[taker]:
                    common = [np.intersect1d(a, b, assume_unique=True).size for a, b in zip(have, want, strict=True)]
                    between[self.of_rank[giver], self.of_rank[taker]] += int(np.prod(common)) * itemsize
        return int(max(between.sum(axis=0).max(), between.sum(axis=1).max()))

    def bare_rate(self) -> float:
        """Return the bytes a second that each host sends to the next one while it receives from the one before.

        By MPI alone: long messages between ranks of the same number on each host, two of each under way.  Collective.
        """
        members = [[rank for rank, host in enumerate(self.of_rank) if host == number] for number in range(self.count)]
        pairs = min(len(ranks) for ranks in members)
        mine = self.of_rank[self._comm.rank]
        position = members[mine].index(self._comm.rank)
        to, source = (members[(mine + shift) % self.count][position % pairs] for shift in (1, -1))
        buffers = np.ones((4, _MESSAGE), np.uint8)

        def seconds(count: int) -> float:
            self._comm.Barrier()
            begin = time.monotonic()
            for _ in range(count if position < pairs else 0):
                requests = [self._comm.Irecv(buffers[slot], source, 1) for slot in (0, 1)]
                requests += [self._comm.Isend(buffers[slot], to, 1) for slot in (2, 3)]
                MPI.Request.Waitall(requests)
            return float(self._comm.allreduce(time.monotonic() - begin, op=MPI.MAX))

        seconds(1)
        most = -(-_BYTES // pairs // (2 * _MESSAGE))
        count = max(1, min(most, int(_SECONDS / seconds(1))))
        bytes_sent = pairs * count * 2 * _MESSAGE
        return bytes_sent / statistics.median(seconds(count) for _ in range(_REPEATS))
