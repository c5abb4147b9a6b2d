"""The ranks of `plait bench accesses`: ``mpiexec -n P python -m plait_bench.accesses.ranks JOB``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import plait
from plait_bench.accesses.job import AccessCase, AccessesJob
from plait_bench.pattern import same_bytes
from plait_bench.ranks import Ranks, run_job


class _Ranks(Ranks):
    """The whole job on one rank."""

    def __init__(self, job: AccessesJob) -> None:
        super().__init__()
        self._job = job

    def run(self) -> None:
        """Run the whole job."""
        self._report_hello()
        for number, case in enumerate(self._job.cases):
            self._measure(number, case)

    def _measure(self, number: int, case: AccessCase) -> None:
        """Write a file and measure one access of it round by round; the first round is not counted."""
        shape = (case.edge, case.edge)
        layout = plait.Layout.parse(case.layout, shape)
        rank = self._comm.rank
        local = np.full(layout.local_shape(rank), float(rank))
        path = str(Path(self._job.folder) / f"accesses-{case.edge}.bin")
        options: dict[str, Any] = {"comm": self._comm, "shape": shape, "dtype": "f8", "strategy": case.strategy}
        with plait.open(path, "w", **options) as file:
            file.write(local, layout)
        received = np.empty_like(local)
        with plait.open(path, "r+", **options) as file:

            def access() -> None:
                if case.operation == "read":
                    file.read(layout, out=received)
                else:
                    file.write(local, layout)

            samples = [self._measure_span(access) for _ in range(self._job.rounds + 1)][1:]
            if case.operation == "write":
                file.read(layout, out=received)
        self._report("case", number=number, samples=samples, correct=self._is_true_on_all(same_bytes(received, local)))


def main() -> None:
    """Run the job that the command line names."""
    run_job(AccessesJob.load, _Ranks)


if __name__ == "__main__":
    main()
