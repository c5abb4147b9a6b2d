"""The ranks of `plait bench shared`: ``mpiexec -n P python -m plait_bench.shared.ranks JOB``."""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from pathlib import Path

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

import plait
from plait_bench.page_cache import drop_files
from plait_bench.ranks import Ranks, run_job
from plait_bench.shared.files import MeasuredFile, PendingRequest, open_measured
from plait_bench.shared.job import LOCATIONS, READ, WRITE, SharedJob


class _SharedRanks(Ranks):
    """The whole job on one rank; the ranks of some or all hosts take part in a measurement."""

    def __init__(self, job: SharedJob) -> None:
        super().__init__()
        self._job = job
        self._folder = Path(job.folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._host = self._find_host_number()
        self._hosts = self._comm.allreduce(self._host, op=MPI.MAX) + 1

    def _find_host_number(self) -> int:
        """Return the number of this rank's host; hosts are numbered in the order of their first ranks."""
        size = int(os.environ.get("PLAIT_NODE_SIZE", "0"))
        node = self._comm.Split_type(MPI.COMM_TYPE_SHARED)
        host_key = (node.bcast(self._comm.rank), node.rank // size if size > 0 else 0)
        node.Free()
        return sorted(set(self._comm.allgather(host_key))).index(host_key)

    def run(self) -> None:
        """Run the whole job."""
        self._report_hello()
        numbers = sorted(set(self._job.hosts)) or powers_of_two(self._hosts)
        if numbers[-1] > self._hosts:
            raise plait.Error(
                f"{numbers[-1]} hosts were asked for, but the {self._comm.size} ranks are on {self._hosts}; start more "
                "ranks, or ask for fewer hosts"
            )
        max_ranks = max(Counter(self._comm.allgather(self._host)).values())
        if self._job.bytes // max_ranks < self._job.request:
            raise plait.Error(
                f"{max_ranks} ranks of a host share {self._job.bytes >> 20} MiB, which is less than a request of "
                f"{self._job.request} bytes for each; start fewer ranks, give more megabytes or smaller requests"
            )
        self._report("hosts", numbers=numbers, ranks=self._comm.size)
        for round_ in range(self._job.rounds):
            for hosts in numbers:
                for location in LOCATIONS if round_ % 2 else reversed(LOCATIONS):
                    self._measure(hosts, location)
                    # Ranks of hosts that do not take part sleep here.
                    self._wait_asleep(self._comm)

    def _measure(self, hosts: int, location: str) -> None:
        """Write a new file and read it by the ranks of the first `hosts` hosts; the other ranks return at once."""
        group = self._comm.Split(0 if self._host < hosts else MPI.UNDEFINED, self._comm.rank)
        if group == MPI.COMM_NULL:
            return
        comm = MPI.Intracomm(group)
        ranks_of_host = comm.allgather(self._host).count(self._host)
        requests = self._job.bytes // ranks_of_host // self._job.request
        file = open_measured(location, self._folder, self._job.request, comm)
        data = np.random.default_rng(comm.rank).integers(0, 256, (requests, self._job.request), "u1")
        received = np.zeros_like(data)
        times = {kind: self._transfer_rows(comm, file, kind, rows) for kind, rows in ((WRITE, data), (READ, received))}
        if not np.array_equal(received, data):
            raise plait.Error(f"wrong data was read ({location}, {hosts} hosts)")
        file.close()
        total = comm.allreduce(data.nbytes)
        comm.Free()
        self._report("cell", hosts=hosts, location=location, bytes=total, seconds=times)

    def _transfer_rows(self, comm: MPI.Intracomm, file: MeasuredFile, kind: str, rows: npt.NDArray[np.uint8]) -> float:
        """Return the seconds in which all ranks read or write their rows, each of which is one request."""
        first_row = comm.exscan(len(rows)) or 0
        start = file.iwrite if kind == WRITE else file.iread
        drop_files(file.prefix)
        self._wait_asleep(comm)
        begin = time.perf_counter()
        in_flight: deque[PendingRequest] = deque()
        for number in range(len(rows)):
            # The ranks begin at different stripes, so that they do not all access the same disk.
            row = (number + comm.rank) % len(rows)
            if len(in_flight) == self._job.ahead:
                in_flight.popleft().wait()
            in_flight.append(start((first_row + row) * self._job.request, rows[row]))
        while in_flight:
            in_flight.popleft().wait()
        self._wait_asleep(comm)
        if kind == WRITE:
            file.sync()
            self._wait_asleep(comm)
        return time.perf_counter() - begin

    def _wait_asleep(self, comm: MPI.Intracomm) -> None:
        """Wait for all ranks, sleeping between checks; a barrier of MPI would poll and use a core."""
        request = comm.Ibarrier()
        while not request.Test():
            time.sleep(0.0005)


def powers_of_two(maximum: int) -> list[int]:
    """Return the powers of two up to `maximum`, and `maximum` itself."""
    numbers = [1 << power for power in range(maximum.bit_length())]
    return numbers if numbers[-1] == maximum else [*numbers, maximum]


if __name__ == "__main__":
    run_job(SharedJob.load, _SharedRanks)
