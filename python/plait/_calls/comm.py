"""Communicators: those of mpi4py, and the ranks of a job without MPI."""

from __future__ import annotations

import atexit
import math
import os
import pickle
import sys
from typing import Any

from .. import _core
from .._arguments.words import kind, shown
from .._base import forks
from .._base.errors import ArgumentError, ArgumentTypeError
from .guard import plait_errors

#: Valid arguments ``comm``: a Comm, an mpi4py communicator, or None for one process alone.
CommLike = Any

#: The variables that MPI launchers set for each process that they start.
LAUNCHED = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "MPI_LOCALRANKID")


class Comm:
    """The ranks of a job that were started without MPI, for example by ``plait run``; :func:`plait.world` returns it.

    It is accepted as ``comm=`` wherever an mpi4py communicator is, and has the few calls of one that such programs
    need, under the same names. All are collective: every rank makes them, in the same order.
    """

    __slots__ = ("_core",)

    def __init__(self, core: _core.Comm) -> None:
        """Wrap a communicator of the core."""
        self._core = core

    @property
    def rank(self) -> int:
        """The number of this process, from 0."""
        return self._core.rank

    @property
    def size(self) -> int:
        """The number of ranks."""
        return self._core.size

    def Get_rank(self) -> int:  # noqa: N802 - as mpi4py has it
        """Return the number of this process, from 0."""
        return self._core.rank

    def Get_size(self) -> int:  # noqa: N802 - the name in mpi4py
        """Return the number of ranks."""
        return self._core.size

    def barrier(self) -> None:
        """Wait until all ranks have called it. Raises plait.StoreError if a rank has ended, or has left the program."""
        self._core.barrier()

    Barrier = barrier

    def allgather(self, sendobj: Any) -> list[Any]:
        """Return the objects of all ranks, ordered by rank; any object that can be pickled is accepted.

        All objects go through rank 0, so they should be small. Raises the errors of :meth:`barrier`.
        """
        return [pickle.loads(encoded) for encoded in self._core.allgather(pickle.dumps(sendobj))]

    def bcast(self, obj: Any = None, root: int = 0) -> Any:
        """Return the object of rank ``root``: any small object that can be pickled. Raises the errors of
        :meth:`barrier`.
        """
        given = self._core.allgather(pickle.dumps(obj) if self.rank == root else b"")
        if not 0 <= root < self.size:
            raise ArgumentError(f"root={root} is no rank; there are the ranks 0 to {self.size - 1}")
        return pickle.loads(given[root])

    def __repr__(self) -> str:
        """Return rank and size."""
        return f"<plait.Comm rank {self.rank} of {self.size}>"


@plait_errors
def world(timeout: float = 60.0) -> CommLike:
    """Return the communicator of all ranks of this program, for ``comm=``. Collective.

    If ``plait run`` has started the ranks, or a shell that gave each process PLAIT_JOB, PLAIT_SIZE and PLAIT_RANK, it
    is a :class:`Comm`; all ranks run on one host. If an MPI launcher has started them, it is mpi4py's COMM_WORLD. A
    process that was started by itself is the only rank, 0 of 1. All of them have ``rank``, ``size``, ``barrier()``,
    ``allgather(object)`` and ``bcast(object)``, so that a program that needs no more runs everywhere.

    timeout   seconds for which the first call waits for the other ranks of a job without MPI

    Raises plait.StoreError if a rank has not connected in time (the error states its number), has ended before, or
    exists twice; plait.ArgumentError if the variables are wrong, or differ between the ranks.
    """
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
        raise ArgumentTypeError(f"timeout={shown(timeout)} is no number of seconds; give 0 or more")
    if math.isnan(timeout) or timeout < 0:
        raise ArgumentError(f"timeout={timeout} s cannot be; give 0 or more")
    if not os.environ.get("PLAIT_SIZE"):
        mpi = sys.modules.get("mpi4py.MPI")
        if mpi is not None and mpi.Is_initialized() and not mpi.Is_finalized() and mpi.COMM_WORLD.size > 1:
            return mpi.COMM_WORLD
        if any(name in os.environ for name in LAUNCHED):
            try:
                from mpi4py import MPI
            except ImportError as error:
                raise ArgumentError(
                    "an MPI launcher has started this process, and mpi4py is not installed; "
                    "install it with: pip install 'plait[mpi,mpich]', or start the program with: plait run"
                ) from error
            if MPI.COMM_WORLD.size > 1:
                return MPI.COMM_WORLD
    comm = Comm(_core.Comm.world(min(timeout, _MAX_TIMEOUT)))
    _report_end_at_exit()
    return comm


_MAX_TIMEOUT = 1e9  # seconds, some thirty years

_is_registered = False


def _report_end_at_exit() -> None:
    global _is_registered
    if not _is_registered:
        _is_registered = True
        atexit.register(_leave)


def to_core_comm(comm: CommLike) -> _core.Comm:
    """Return the core's Comm. For an mpi4py communicator it is made at first use and freed with that. Collective."""
    if comm is None:
        return _core.Comm()
    if isinstance(comm, Comm):
        return comm._core
    if forks.mpi_process is not None:
        raise ArgumentError(
            f"MPI belongs to process {forks.mpi_process}, and this is process {os.getpid()}, a forked child of it; "
            f"work without comm in this process"
        )
    if not hasattr(comm, "py2f"):
        raise ArgumentError(f"comm is {kind(comm)}; pass plait.world(), an mpi4py communicator, or leave it out")
    if not comm or comm.Is_inter():
        found = "an intercommunicator" if comm else "COMM_NULL"
        raise ArgumentError(f"comm is {found}; pass the communicator of the processes that hold the array")
    from .._base.libraries.families import mpi_module

    module = mpi_module()
    _report_end_at_exit()
    return module.make_comm(comm.py2f())  # type: ignore[no-any-return]


def _leave() -> None:
    """Release the communicators. If an exception ends this rank, report its text to the other ranks."""
    if forks.mpi_process is not None:
        return
    error = getattr(sys, "last_value", None)  # the exception that ended the program, as the interpreter prints it
    reason = "" if error is None or hasattr(sys, "ps1") else f"{type(error).__name__}: {error}"
    reason = reason.partition("\n")[0]
    _core.set_leaving(reason)
    if "plait._mpi" in sys.modules:
        sys.modules["plait._mpi"].leave(reason)
