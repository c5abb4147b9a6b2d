"""The ranks of `plait bench small`: ``mpiexec -n P python -m plait_bench.small.ranks JOB``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

import plait
from plait_bench.pattern import same_bytes
from plait_bench.ranks import Ranks, run_job
from plait_bench.small.accesses import Access, Array, make_content, make_files, open_accesses, slice_index
from plait_bench.small.job import AGAIN, READ, SLICE, SmallCase, SmallJob

_SLICES_PER_SAMPLE = 200
"""Number of slices that one sample reads; the sample is the time of one slice."""


class _Ranks(Ranks):
    """The whole job on one rank."""

    def __init__(self, job: SmallJob) -> None:
        super().__init__()
        self._job = job

    def run(self) -> None:
        """Run the whole job."""
        self._report_hello()
        for number, case in enumerate(self._job.cases):
            self._measure(number, case)

    def _measure(self, number: int, case: SmallCase) -> None:
        """Measure all methods in turn, round by round; one more access before the rounds is checked and not counted."""
        folder = Path(self._job.folder)
        whole = make_content(case.edge)
        indices = plait.Layout.parse(case.layout).indices(self._comm.rank)
        expected = whole[slice_index(case)] if case.access == SLICE else whole[np.ix_(*indices)]
        if self._comm.rank == 0:
            make_files(case, folder)
        self._comm.Barrier()
        with open_accesses(case, self._comm, folder, whole[np.ix_(*indices)]) as accesses:
            samples: dict[str, list[float]] = {name: [] for name in accesses}
            correct = {
                name: self._is_true_on_all(self._is_correct(case, access, expected))
                for name, access in accesses.items()
            }
            begin = time.monotonic()
            for _ in range(self._job.rounds):
                for name, access in accesses.items():
                    samples[name].append(self._sample(case, access))
                if not self._is_true_on_all(time.monotonic() - begin < self._job.sampling_seconds):
                    break
        self._report("case", number=number, samples=samples, wrong=[name for name in accesses if not correct[name]])

    def _is_correct(self, case: SmallCase, access: Access, expected: Array) -> bool:
        received = access()
        return case.access not in (READ, AGAIN, SLICE) or same_bytes(np.ascontiguousarray(received), expected)

    def _sample(self, case: SmallCase, access: Access) -> float:
        """Return the seconds of one access."""
        result: list[Any] = []

        def access_once() -> None:
            # The result is freed after the measurement, as that of a program is.
            result.append(access())

        def read_slices() -> None:
            for _ in range(_SLICES_PER_SAMPLE):
                access()

        return (
            self._measure_span(read_slices) / _SLICES_PER_SAMPLE
            if case.access == SLICE
            else self._measure_span(access_once)
        )


def main() -> None:
    """Run the job that the command line names."""
    run_job(SmallJob.load, _Ranks)


if __name__ == "__main__":
    main()
