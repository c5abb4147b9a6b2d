"""The common parts of the benchmarks' rank programs: ``mpiexec -n P python -m plait_bench.NAME_ranks JOB``."""

from __future__ import annotations

import signal
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from mpi4py import MPI

from plait.launch.ranks import end_all_on_error, report


class LimitedJob(Protocol):
    """A job that says how long it may take."""

    @property
    def limit(self) -> float:
        """Seconds after which a rank ends itself if the driver is gone."""


AnyJob = TypeVar("AnyJob", bound=LimitedJob)


class Ranks(ABC):
    """The whole job on one rank."""

    def __init__(self) -> None:
        """Use all processes that were started."""
        self._comm = MPI.COMM_WORLD

    @abstractmethod
    def run(self) -> None:
        """Run the whole job."""

    def _report(self, event: str, **fields: Any) -> None:
        if self._comm.rank == 0:
            report(event, **fields)

    def _greet(self) -> None:
        self._report("hello", mpi=MPI.Get_library_version().rstrip("\0\n"), ranks=self._comm.size)

    def _span(self, action: Callable[[], None]) -> float:
        """Return the seconds from the first rank's start to the last rank's end.

        With more ranks than cores, some ranks start late, and their own durations would not include their waits. The
        ranks are processes of one machine, so that they read the same monotonic clock.
        """
        return measure_span(self._comm, action)

    def _all(self, mine: bool) -> bool:
        everyone = np.empty(1, dtype=np.int32)
        self._comm.Allreduce(np.array([mine], dtype=np.int32), everyone, op=MPI.MIN)
        return bool(everyone[0])


def measure_span(comm: MPI.Intracomm, action: Callable[[], None]) -> float:
    """Return the seconds from the first rank's start to the last rank's end, both on the machine's clock."""
    comm.Barrier()
    begin = time.clock_gettime(time.CLOCK_MONOTONIC)
    action()
    mine = np.array([time.clock_gettime(time.CLOCK_MONOTONIC), -begin])
    latest = np.empty(2)
    comm.Allreduce(mine, latest, op=MPI.MAX)
    return float(latest.sum())


def run_job(load: Callable[[Path], AnyJob], ranks: Callable[[AnyJob], Ranks]) -> None:
    """Run the job that the command line names, as one of its ranks."""
    job = load(Path(sys.argv[1]))
    # The default action ends the process even inside a system or MPI call, should the driver have died.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, job.limit)
    end_all_on_error(lambda: ranks(job).run())
