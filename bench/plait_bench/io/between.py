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

_MESSAGE = 1 << 20  # bytes of a message in the measurement of the bare rate
_BYTES = 1 << 25
"""Maximum bytes that each host sends in one sample of the bare rate."""
_SECONDS = 0.5
"""Maximum duration of such a sample; on slow links a sample sends fewer bytes."""
_REPEATS = 3


class Hosts:
    """The hosts of the ranks, as one rank knows them.  Collective."""

    def __init__(self, comm: MPI.Intracomm) -> None:
        """Number the hosts in the order of their first ranks; PLAIT_NODE_SIZE divides a host as it does in Plait."""
        self._comm = comm
        ranks_per_node = int(os.environ.get("PLAIT_NODE_SIZE", "0") or "0")
        node = comm.Split_type(MPI.COMM_TYPE_SHARED)
        host = (node.bcast(comm.rank), node.rank // ranks_per_node if ranks_per_node > 0 else 0)
        node.Free()
        host_of_rank = comm.allgather(host)
        numbers = {host: number for number, host in enumerate(dict.fromkeys(host_of_rank))}
        self.of_rank = [numbers[host] for host in host_of_rank]
        """The host of each rank."""
        self.count = len(numbers)
        self._is_first_on_host = self.of_rank.index(self.of_rank[comm.rank]) == comm.rank

    def count_link_bytes(self) -> npt.NDArray[np.int64]:
        """Return the bytes that this host has received and sent so far; zeros on all but the first rank of a host."""
        total = np.zeros(2, np.int64)
        if not self._is_first_on_host:
            return total
        lines = Path("/proc/self/net/dev").read_text(encoding="utf-8").splitlines()[2:]
        for name, _, numbers in (line.partition(":") for line in lines):
            if name.strip() != "lo":
                words = numbers.split()
                total += np.array([int(words[0]), int(words[8])], np.int64)
        return total

    def max_carried(self, since: npt.NDArray[np.int64]) -> int:
        """Return the bytes that the busiest link has carried in one direction since `since`.  Collective."""
        carried = self.count_link_bytes() - since
        self._comm.Allreduce(MPI.IN_PLACE, carried, op=MPI.MAX)
        return int(carried.max())

    def min_crossing(self, source: plait.Layout, target: plait.Layout, itemsize: int) -> int:
        """Return the minimum bytes that the busiest link carries in one direction, from one layout to another.

        A host sends at least the bytes that it holds and other hosts need, and receives at least those that it needs
        and other hosts hold.
        """
        indices_of_sides = [[layout.indices(rank) for rank in range(self._comm.size)] for layout in (source, target)]
        bytes_between_hosts = np.zeros((self.count, self.count), np.int64)
        for sender, sent in enumerate(indices_of_sides[0]):
            for receiver, received in enumerate(indices_of_sides[1]):
                hosts = self.of_rank[sender], self.of_rank[receiver]
                if hosts[0] != hosts[1]:
                    pairs = zip(sent, received, strict=True)
                    common = [np.intersect1d(a, b, assume_unique=True).size for a, b in pairs]
                    bytes_between_hosts[hosts] += int(np.prod(common)) * itemsize
        return int(max(bytes_between_hosts.sum(axis=0).max(), bytes_between_hosts.sum(axis=1).max()))

    def measure_bare_rate(self) -> float:
        """Return the bytes a second that each host sends to the next host while it receives from the previous one.

        This is the rate of MPI alone: the n-th ranks of the hosts exchange long messages, two in flight in each
        direction.  Collective.
        """
        members = [[rank for rank, host in enumerate(self.of_rank) if host == number] for number in range(self.count)]
        pairs = min(len(ranks) for ranks in members)
        host = self.of_rank[self._comm.rank]
        position = members[host].index(self._comm.rank)
        receiver, sender = (members[(host + shift) % self.count][position % pairs] for shift in (1, -1))
        buffers = np.ones((4, _MESSAGE), np.uint8)

        def measure_seconds(count: int) -> float:
            self._comm.Barrier()
            begin = time.monotonic()
            for _ in range(count if position < pairs else 0):
                requests = [self._comm.Irecv(buffers[slot], sender, 1) for slot in (0, 1)]
                requests += [self._comm.Isend(buffers[slot], receiver, 1) for slot in (2, 3)]
                MPI.Request.Waitall(requests)
            return float(self._comm.allreduce(time.monotonic() - begin, op=MPI.MAX))

        measure_seconds(1)  # warms up
        max_count = -(-_BYTES // pairs // (2 * _MESSAGE))
        count = max(1, min(max_count, int(_SECONDS / measure_seconds(1))))
        bytes_sent = pairs * count * 2 * _MESSAGE
        return bytes_sent / statistics.median(measure_seconds(count) for _ in range(_REPEATS))
