"""The ranks of `plait bench distant`: ``mpiexec -n 2 python -m plait_bench.distant.ranks JOB``."""

from __future__ import annotations

import hashlib
import os
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from plait import distant
from plait_bench.distant.job import LATENCIES, LOCAL, NEIGHBOUR, READ, REMOTE, SMALL_BYTES, Cell, DistantJob
from plait_bench.page_cache import drop_files
from plait_bench.ranks import Ranks, run_job

_CALLS = 500  # calls of each kind of small access
_IDLE_SECONDS = 2.0  # duration of the measurement of idle handlers
_COMPUTE_SECONDS = 1.5  # duration of the computation, if nothing disturbs it
_BLOB = 1 << 20  # bytes that one round of the computation hashes


class _Distant(Ranks):
    """Rank 0 measures; rank 1 has the remote disk, and sleeps or computes."""

    def __init__(self, job: DistantJob) -> None:
        super().__init__()
        self._job = job
        folder = job.folders[min(self._comm.rank, len(job.folders) - 1)]
        self._path = Path(folder) / f"plait-distant-{os.getpid()}-{self._comm.rank}"
        # Ranks that share a host access each other's files directly, unless each counts as a separate node.
        # With a node size of 1 they exchange messages, as ranks on two hosts do.
        self._neighbour_file = distant.open(f"{self._path}-near", "w", comm=self._comm.Dup(), temporary=True)
        os.environ["PLAIT_NODE_SIZE"] = "1"
        self._message_file = distant.open(self._path, "w", comm=self._comm, temporary=True)
        self._local_data = np.random.default_rng(self._comm.rank).integers(0, 256, job.bytes, "u1")
        for file in (self._message_file, self._neighbour_file):
            file.write(0, self._local_data, self._comm.rank)
        self._remote_data = np.random.default_rng(1).integers(0, 256, job.bytes, "u1")
        self._buffer = np.empty(job.bytes, "u1")

    def run(self) -> None:
        """Run the whole job."""
        self._report_hello()
        for cell in self._job.cells():
            times = (
                [self._time_transfer(cell) for _ in range(self._job.rounds)] if self._is_possible(cell.where) else []
            )
            self._report("cell", cell=vars(cell), samples=times)
        self._measure_latencies()
        self._measure_idle_use()
        self._measure_slowdown()
        self._neighbour_file.close()
        self._message_file.close()

    def _is_possible(self, where: str) -> bool:
        """Return False for accesses within a node if the ranks are on two hosts."""
        return where != NEIGHBOUR or self._comm.bcast(self._neighbour_file.direct(1), root=0)

    def _select_file(self, where: str) -> distant.DistantFile:
        return self._neighbour_file if where == NEIGHBOUR else self._message_file

    def _wait_asleep(self) -> None:
        """Wait for all ranks, sleeping between checks; a barrier of MPI would poll and use a core."""
        request = self._comm.Ibarrier()
        while not request.Test():
            time.sleep(0.0005)

    def _time_transfer(self, cell: Cell) -> float:
        """Return the seconds in which rank 0 reads or writes all bytes sequentially."""
        server = 0 if cell.where == LOCAL else 1
        drop_files(str(self._path))
        self._wait_asleep()
        seconds = 0.0
        if self._comm.rank == 0:
            is_read = cell.kind == READ
            values = self._local_data if server == 0 else self._remote_data
            file = self._select_file(cell.where)
            start = file.iread if is_read else file.iwrite
            array = self._buffer if is_read else values
            if is_read:
                array.fill(0)
            requests: deque[Any] = deque()
            begin = time.perf_counter()
            for offset in range(0, self._job.bytes, cell.size):
                if len(requests) == cell.ahead:
                    requests.popleft().wait()
                requests.append(start(offset, array[offset : offset + cell.size], server))
            distant.wait_all(requests)
            if not is_read:
                file.sync(server)
            seconds = time.perf_counter() - begin
            if is_read and not np.array_equal(array, values):
                raise ValueError(f"wrong data in {cell}")
        self._wait_asleep()
        return seconds

    def _measure_latencies(self) -> None:
        """Report the seconds of single small accesses by rank 0, alternating between kinds, while rank 1 sleeps."""
        possible = [name for name in LATENCIES if self._is_possible(find_location(name))]
        samples: dict[str, list[float]] = {name: [] for name in possible}
        self._wait_asleep()
        if self._comm.rank == 0:
            for _ in range(_CALLS):
                for name, times in samples.items():
                    begin = time.perf_counter()
                    self._access_small(name)
                    times.append(time.perf_counter() - begin)
        self._wait_asleep()
        self._report("latency", samples=samples)

    def _access_small(self, name: str) -> None:
        """Make a small access: a request for the size, a read or a write."""
        where = find_location(name)
        server = 0 if where == LOCAL else 1
        file = self._select_file(where)
        if name.endswith("trip"):
            file.size(server)
        elif name.endswith(READ):
            file.read(0, self._buffer[:SMALL_BYTES], server)
        else:
            file.write(0, self._remote_data[:SMALL_BYTES] if server else self._local_data[:SMALL_BYTES], server)

    def _measure_idle_use(self) -> None:
        """Report the share of a core that a sleeping process with an idle handler uses."""
        self._wait_asleep()
        cpu, begin = time.process_time(), time.perf_counter()
        time.sleep(_IDLE_SECONDS)
        share = (time.process_time() - cpu) / (time.perf_counter() - begin)
        self._report("idle", shares=self._comm.gather(share))

    def _measure_slowdown(self) -> None:
        """Report the time of a computation on rank 1, first undisturbed and then while rank 0 reads rank 1's disk."""
        blob = os.urandom(_BLOB)
        rounds_of_hashing = 0
        begin = time.perf_counter()
        while time.perf_counter() - begin < _COMPUTE_SECONDS:
            hashlib.sha256(blob).digest()
            rounds_of_hashing += 1

        def compute() -> dict[str, float]:
            process_begin, thread_begin, start = time.process_time(), time.thread_time(), time.perf_counter()
            for _ in range(rounds_of_hashing):
                hashlib.sha256(blob).digest()
            seconds = time.perf_counter() - start
            # The processor time of all other threads of this process: of the one that serves the requests of rank 0.
            service = (time.process_time() - process_begin) - (time.thread_time() - thread_begin)
            return {"seconds": seconds, "service": service}

        samples = []
        for _ in range(self._job.rounds):
            alone = self._compute_while(compute, lambda: time.sleep(0.01))
            served = self._compute_while(compute, lambda: self._message_file.read(0, self._buffer[: 1 << 15], 1))
            samples.append({"alone": alone, "served": served})
            if self._is_possible(NEIGHBOUR):
                samples[-1]["near"] = self._compute_while(
                    compute, lambda: self._neighbour_file.read(0, self._buffer[: 1 << 15], 1)
                )
        self._report("loss", samples=samples)

    def _compute_while(self, compute: Callable[[], dict[str, float]], action: Callable[[], Any]) -> dict[str, float]:
        """Run `compute` on rank 1 while rank 0 repeats `action`; return the result of `compute` on rank 0."""
        self._wait_asleep()
        if self._comm.rank == 1:
            self._comm.send(compute(), dest=0)
            return {}
        calls = 0
        result_request = self._comm.irecv(source=1)
        while True:
            is_done, result = result_request.test()
            if is_done and result is not None:
                return {**result, "calls": float(calls)}
            action()
            calls += 1


def find_location(name: str) -> str:
    """Return where the file of a small access is."""
    return next((where for where in (LOCAL, NEIGHBOUR) if name.startswith(where)), REMOTE)


if __name__ == "__main__":
    run_job(DistantJob.load, _Distant)
