"""The common parts of the benchmarks' rank programs: ``mpiexec -n P python -m plait_bench.NAME.ranks JOB``."""

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
    """A job with a time limit."""

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

    def _report_hello(self) -> None:
        """Report the MPI library and the number of ranks, on rank 0."""
        self._report("hello", mpi=MPI.Get_library_version().rstrip("\0\n"), ranks=self._comm.size)

    def _measure_span(self, action: Callable[[], None]) -> float:
        """Return the seconds from the first rank's start to the last rank's end.

        With more ranks than cores, some ranks start late; their own durations would not include that wait. All ranks
        are processes of one machine, so that they read the same monotonic clock.
        """
        return measure_span(self._comm, action)

    def _is_true_on_all(self, passed: bool) -> bool:
        """Return True on all ranks if `passed` is True on all ranks.  Collective."""
        all_passed = np.empty(1, dtype=np.int32)
        self._comm.Allreduce(np.array([passed], dtype=np.int32), all_passed, op=MPI.MIN)
        return bool(all_passed[0])


def measure_span(comm: MPI.Intracomm, action: Callable[[], None]) -> float:
    """Return the seconds from the first rank's start to the last rank's end, by the machine's monotonic clock.

    One reduction finds both: the maximum of -begin is the negated earliest begin.  Collective.
    """
    comm.Barrier()
    begin = time.clock_gettime(time.CLOCK_MONOTONIC)
    action()
    end_and_negated_begin = np.array([time.clock_gettime(time.CLOCK_MONOTONIC), -begin])
    maxima = np.empty(2)
    comm.Allreduce(end_and_negated_begin, maxima, op=MPI.MAX)
    return float(maxima.sum())


def run_job(load: Callable[[Path], AnyJob], ranks: Callable[[AnyJob], Ranks]) -> None:
    """Run the job that the command line names, as one of its ranks."""
    job = load(Path(sys.argv[1]))
    # If the driver has died, SIGALRM's default action ends the process even inside a system or MPI call.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, job.limit)
    end_all_on_error(lambda: ranks(job).run())
