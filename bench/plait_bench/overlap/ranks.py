"""The ranks of `plait bench overlap`: ``mpiexec -n P python -m plait_bench.overlap.ranks JOB``."""

from __future__ import annotations

import hashlib
import os
import statistics
from contextlib import ExitStack
from typing import Any

import numpy as np
import numpy.typing as npt

import plait
from plait_bench.overlap.job import ACCESSES, BOTH, COMPUTE, IO, MEASUREMENTS, Access, OverlapJob
from plait_bench.ranks import Ranks, run_job

_BLOB = 1 << 20  # bytes that a unit of the computation hashes


class _Overlap(Ranks):
    """The whole job on one rank."""

    def __init__(self, job: OverlapJob) -> None:
        super().__init__()
        self._job = job
        per_rank = max(1, job.bytes // 8 // self._comm.size)
        self._layout = plait.Layout((per_rank * self._comm.size,), "(block)", grid=(self._comm.size,))
        self._values = np.arange(per_rank, dtype="f8") + self._comm.rank * per_rank
        self._array: npt.NDArray[Any] = np.empty_like(self._values)
        self._blob = os.urandom(_BLOB)
        with self._open("w") as file:
            file.write(self._values, self._layout)

    def _open(self, mode: Any) -> plait.File:
        return plait.open(self._job.path, mode, comm=self._comm, shape=self._layout.shape, dtype="f8")

    def run(self) -> None:
        """Run the whole job."""
        self._report_hello()
        for access in ACCESSES:
            with ExitStack() as cleanup:
                file = cleanup.enter_context(self._open("r+" if access.write else "r"))
                stream = None if access.collective else cleanup.enter_context(file.stream(mode=0))
                self._measure(access, file, stream)

    def _measure(self, access: Access, file: plait.File, stream: Any) -> None:
        """Measure an access round by round; `stream` is None for a collective access."""

        def start() -> Any:
            if stream is None:
                if access.write:
                    return file.iwrite(self._values, self._layout)
                return file.iread(self._layout, self._array)
            stream.seek(self._comm.rank * self._values.size)
            return stream.iwrite(self._values) if access.write else stream.iread(self._array.size, out=self._array)

        def access_and_compute(amount: int) -> None:
            request = start()
            self._compute(amount)
            request.wait()

        access_times = []
        for _ in range(3):
            self._prepare_cache(access)
            access_times.append(self._measure_span(lambda: start().wait()))
        # Make the computation as long as the access.
        unit_seconds = self._comm.bcast(min(self._measure_span(lambda: self._compute(8)) for _ in range(3)) / 8)
        access_seconds = float(self._comm.bcast(statistics.median(access_times)))
        amount = max(1, round(access_seconds / unit_seconds))
        samples: dict[str, list[float]] = {measurement: [] for measurement in MEASUREMENTS}
        actions = {
            IO: lambda: start().wait(),
            COMPUTE: lambda: self._compute(amount),
            BOTH: lambda: access_and_compute(amount),
        }
        wrong = False
        for number in range(self._job.rounds):
            for measurement in MEASUREMENTS if number % 2 == 0 else MEASUREMENTS[::-1]:
                self._prepare_cache(access)
                self._array.fill(-1.0)
                samples[measurement].append(self._measure_span(actions[measurement]))
                if measurement != COMPUTE and not access.write:
                    wrong = wrong or not self._is_true_on_all(np.array_equal(self._array, self._values))
            self._report("round", access=access.name, round=number)
        self._report("access", access=access.name, samples=samples, wrong=wrong)

    def _compute(self, amount: int) -> None:
        """Hash a buffer `amount` times; it fits into the cache, so that this needs no memory bandwidth."""
        digest = hashlib.sha256()
        for _ in range(amount):
            digest.update(self._blob)

    def _prepare_cache(self, access: Access) -> None:
        """Before a read, drop the file from the page cache; before a write, write back the data of the last one."""
        self._comm.Barrier()
        if self._comm.rank == 0:
            descriptor = os.open(self._job.path, os.O_RDONLY)
            os.fsync(descriptor)
            if not access.write:
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)
        self._comm.Barrier()


if __name__ == "__main__":
    run_job(OverlapJob.load, _Overlap)
